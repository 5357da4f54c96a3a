"""Routes: the partitions of the database and what they own.

A change of the routes raises `definitions_seq`, as a deployment does. Each batch reads this number with its commands,
so that a consumer reads the routes again only when something changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.core.partitions.routes import Detour, Routes
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

ROUTES_CHANNEL = "vivero_routes"
"""The channel of NOTIFY that makes nodes read the routes with their next command."""
_pins = msgspec.json.Decoder(list[tuple[str, int]])


async def read(connection: Connection, sender: int = 0) -> Routes:
    """The routes as of now. `sender`: the partition that sends by them, if slots are moving."""
    row = (await connection.execute(_sql["routes"], (sender,))).rows[0]
    revision, partitions, slots, pinned, previous, moving, held = row
    if partitions == 1:
        return Routes(revision)
    pins: dict[str, tuple[int, ...]] = {}
    for tenant, partition in [] if pinned is None else _pins.decode(pinned):
        pins[tenant] = (*pins.get(tenant, ()), partition)
    detour = None if previous is None else Detour(previous, frozenset(moving), held)
    return Routes(revision, partitions, tuple(slots), pins, detour)


async def add_partitions(connection: Connection, first: int, last: int, deadline: float) -> None:
    """Make partitions that own no slots yet."""
    async with connection.transaction(deadline=deadline):
        await connection.execute(_sql["make_partitions"], (first, last), deadline=deadline)
        await connection.execute(_sql["changed"])
        await connection.execute(_sql["tell"], (ROUTES_CHANNEL,))


async def lock(connection: Connection) -> bool:
    """Exclude other programs that move slots, as long as the connection lives. False if there is one."""
    return bool((await connection.execute(_sql["lock_changes"])).rows[0][0])


async def moves(connection: Connection) -> bool:
    """Whether a move of slots is under way."""
    return bool((await connection.execute(_sql["moves_under_way"])).rows[0][0])


async def note_change(connection: Connection) -> None:
    """Make all nodes read the routes again after this transaction.

    Call it before the change: its lock lets no change overtake one that is in doubt.
    """
    await connection.execute(_sql["changed"])
    await connection.execute(_sql["tell"], (ROUTES_CHANNEL,))


async def pin(connection: Connection, tenant: str, partitions: Sequence[int]) -> None:
    """Let new work of an existing tenant begin in these partitions; none: in all. Its pins end with the tenant."""
    async with connection.transaction():
        await note_change(connection)
        await connection.execute(_sql["unpin"], (tenant,))
        if partitions:
            await connection.execute(_sql["pin"], (tenant, list(partitions)))
