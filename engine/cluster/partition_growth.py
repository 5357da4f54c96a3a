"""Raise the number of partitions while the engine runs: make new ones, and move slots until all own equally many.

A move is a command in the log of the owner (docs/design/partitions.md §6). It ends when every sender has switched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import uuid4

import trio

from vivero.core.partitions.routes import SLOTS, Routes
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.codec import encode_command
from vivero.core.records.slots import MoveSlots
from vivero.storage.cluster import routes
from vivero.storage.cluster.leadership import MAKE_TIMEOUT_S, MAX_PARTITIONS
from vivero.storage.log import command_log
from vivero.storage.log.command_log import AppenderSession, LogEntry
from vivero.storage.postgres.driver import Connection

MOVE_TIMEOUT_S = 60.0
LOOK_EVERY_S = 0.05


class NotRaised(Exception):
    """The number of partitions was not raised, or not all slots have moved. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Move:
    """Slots that move together from their owner to a partition with a higher number."""

    owner: int
    slots: tuple[int, ...]
    to: int


def plan(known: Routes, partitions: int) -> Iterator[Move]:
    """The moves after which each partition owns equally many slots, up to one."""
    owned: dict[int, list[int]] = {partition: [] for partition in range(1, partitions + 1)}
    for slot in range(SLOTS):
        owned[known.owner_of(slot) or 1].append(slot)
    share, rest = divmod(SLOTS, partitions)
    wanted = {partition: share + (partition <= rest) for partition in owned}
    for to in owned:
        for owner in range(1, to):
            count = min(len(owned[owner]) - wanted[owner], wanted[to] - len(owned[to]))
            if count > 0:
                moving, owned[owner] = owned[owner][:count], owned[owner][count:]
                owned[to] += moving
                yield Move(owner, tuple(moving), to)


async def raise_number(connection: Connection, partitions: int, moved: Callable[[Move], None]) -> None:
    """Raise the number of partitions, or complete an earlier call that was interrupted. `moved` hears of each move.

    Raises:
        NotRaised: the number would be lowered, or the engine does not process a move in time.
    """
    if not 1 <= partitions <= MAX_PARTITIONS:
        raise NotRaised(f"the number of partitions must be between 1 and {MAX_PARTITIONS}")
    if not await routes.lock(connection):
        raise NotRaised("another program is raising the number of partitions: wait until it is done")
    known = await routes.read(connection)
    if partitions < known.partitions:
        raise NotRaised(
            f"the database has {known.partitions} partitions, and the number cannot be lowered: keys and positions "
            f"carry their partition, so a partition stays as long as data refers to it"
        )
    if partitions > known.partitions:
        await routes.add_partitions(connection, known.partitions + 1, partitions, trio.current_time() + MAKE_TIMEOUT_S)
    session = await command_log.begin(connection, uuid4(), 1)
    await _until_complete(connection, "an earlier move of slots")
    while (move := next(plan(await routes.read(connection), partitions), None)) is not None:
        moved(move)
        await _move(connection, session, move)


async def _move(connection: Connection, session: AppenderSession, move: Move) -> None:
    """Make a move. It may be in the log already, from an interrupted call: then it has been made, or is under way."""
    command = MoveSlots(move.slots, move.to)
    entry = LogEntry(DEFAULT_TENANT, command.intent, encode_command(command))
    (appended,) = await command_log.append(connection, session, move.owner, uuid4(), None, [entry])
    what = f"the move of {len(move.slots)} slots from partition {move.owner} to {move.to}"
    with trio.move_on_after(MOVE_TIMEOUT_S):
        while True:
            outcome = await command_log.outcome(connection, appended.position)
            if outcome is not None:
                break
            await trio.sleep(LOOK_EVERY_S)
        if outcome.rejection is not None and not await _is_made(connection, move):
            raise NotRaised(f"{what} was rejected: {outcome.rejection.reason}")
        await _until_complete(connection, what)
        return
    raise _late(what)


async def _is_made(connection: Connection, move: Move) -> bool:
    """Whether the owner has some of the slots no more, or moves slots at this moment."""
    known = await routes.read(connection)
    return any(known.owner_of(slot) != move.owner for slot in move.slots) or await routes.moves(connection)


async def _until_complete(connection: Connection, what: str) -> None:
    with trio.move_on_after(MOVE_TIMEOUT_S):
        while True:
            if not await routes.moves(connection):
                return
            await trio.sleep(LOOK_EVERY_S)
    raise _late(what)


def _late(what: str) -> NotRaised:
    return NotRaised(
        f"{what} is not complete after {MOVE_TIMEOUT_S:.0f} s: check with `vivero status` that an engine runs, and "
        "repeat the command, which goes on where it stopped"
    )
