"""Tables of inbound connectors that receivers work: deployed elements, what waits at them, and their state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class Definition(NamedTuple):
    """A version of a process. `sha256`: of its file."""

    key: int
    tenant: str
    process_id: str
    sha256: str
    resource_name: str
    is_latest: bool


class Wait(NamedTuple):
    """A subscription that waits."""

    process_instance_key: int
    element_instance_key: int
    correlation_key: str | None


class ReceiverRow(NamedTuple):
    """The state of a receiver. Ages are in milliseconds; None: there was no event or error."""

    definition_key: int
    element_id: str
    tenant: str
    process_id: str
    type: str
    state: str
    waiting: int
    events: int
    errors: int
    event_age_ms: int | None
    error_age_ms: int | None
    error: str | None


class InboundConnector(NamedTuple):
    """A row of the table. Times are epoch milliseconds."""

    definition_key: int
    element_id: str
    tenant: str
    process_id: str
    type: str
    state: str
    waiting: int
    events: int
    errors: int
    event_at: int | None
    error_at: int | None
    error: str | None
    node: str
    updated_at: int


async def definitions(connection: Connection) -> list[Definition]:
    """All versions of all processes."""
    return [Definition(*row) for row in (await connection.execute(_sql["definitions"])).rows]


async def lock(connection: Connection) -> bool:
    """Make the session of this connection the owner of all receivers. False: another one is."""
    return bool((await connection.execute(_sql["lock"])).rows[0][0])


async def waits(connection: Connection, definition_key: int, element_id: str, most: int) -> list[int]:
    """The keys of the subscriptions of an element that wait, at most `most`."""
    rows = (await connection.execute(_sql["waits"], (definition_key, element_id, most))).rows
    return [key for (key,) in rows]


async def wait(connection: Connection, subscription_key: int) -> Wait | None:
    """A subscription; None if it does not wait any more."""
    rows = (await connection.execute(_sql["wait"], (subscription_key,))).rows
    return Wait(*rows[0]) if rows else None


async def variables(connection: Connection, wait: Wait, names: Sequence[str], most_bytes: int) -> dict[str, str | None]:
    """JSON texts of these variables, as the element sees them. None: its value has more than `most_bytes`."""
    if not names:
        return {}
    values = (wait.process_instance_key, wait.element_instance_key, list(names), most_bytes)
    return dict((await connection.execute(_sql["variables"], values)).rows)


async def save(connection: Connection, rows: Collection[ReceiverRow], node: str) -> None:
    """Save the states of receivers of this node."""
    for row in rows:
        await connection.execute(_sql["save"], (*row, node))


async def forget(connection: Connection, kept: Collection[tuple[int, str]]) -> None:
    """Delete the states of all receivers but these."""
    keys = [key for key, _ in kept], [element for _, element in kept]
    await connection.execute(_sql["forget"], keys)


async def read_page(connection: Connection, first: int, most: int) -> tuple[list[InboundConnector], int]:
    """The states of at most `most` receivers after the first `first`, and the number of all receivers."""
    rows = (await connection.execute(_sql["page"], (first, most))).rows
    [(total,)] = (await connection.execute(_sql["count"])).rows
    return [InboundConnector(*row) for row in rows], total
