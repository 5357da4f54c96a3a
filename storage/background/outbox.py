"""The deliveries of the outbox webhook (`engine.connectors.outbox`). Writes of a run compare its lease."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_ID = re.compile(r"([0-9]{1,19})-([0-9]{1,4})-([0-9]{1,9})", re.ASCII)

Execute = Callable[..., Awaitable[Any]]


class EventId(msgspec.Struct, frozen=True, gc=False):
    """The place of an event in the log. The same in all deliveries of the event."""

    partition: int
    position: int
    seq: int
    ordinal: int

    def __str__(self) -> str:
        return f"{self.position}-{self.seq}-{self.ordinal}"

    @classmethod
    def parse(cls, text: str) -> EventId | None:
        """The id in a text; None if it is not one."""
        found = _ID.fullmatch(text)
        if found is None or int(found[1]) >= 2**63 or int(found[2]) > 2**15 - 1:
            return None
        return cls(int(found[1]) >> 51, int(found[1]), int(found[2]), int(found[3]))


class NewDelivery(msgspec.Struct, frozen=True, gc=False):
    """An event to deliver. `root`: the instance tree, 0 for none. `document` is JSON."""

    id: EventId
    root: int
    type: str
    document: str


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A delivery that is due. `now_s`: seconds since 1970. `dropped`: it is to be deleted."""

    id: EventId
    root: int
    type: str
    document: str
    dropped: bool
    attempts: int
    forgiven: int
    now_s: int
    trace: str | None = None
    """The trace context of the instance tree."""


class DeliveryView(msgspec.Struct, frozen=True, gc=False):
    """A delivery, for people. `state`: pending, held behind an earlier one, dead, or dropped."""

    id: EventId
    root: int
    type: str
    document: str
    state: str
    attempts: int
    due_ms: int
    error: str | None


async def add(execute: Execute, run: Run, new: Sequence[NewDelivery]) -> None:
    """Add deliveries, in the transaction of the run that acknowledges their events."""
    ids = [each.id for each in new]
    columns = (
        [id.position for id in ids],
        [id.seq for id in ids],
        [id.ordinal for id in ids],
        [each.root for each in new],
        [each.type for each in new],
        [each.document for each in new],
    )
    await execute(_sql["add"], (run.partition, *columns, run.id, run.lease))


async def due(connection: Connection, partition: int, limit: int, traces: bool = False) -> list[Delivery]:
    """Deliveries that are due, of different instance trees; with the traces of these, if they are wanted."""
    rows = (await connection.execute(_sql["due"], (partition, limit, traces))).rows
    return [
        Delivery(EventId(partition, *place), root, type, document, state == "dropped", *rest)
        for *place, root, type, document, state, attempts, forgiven, now_s, trace in rows
        for rest in ((attempts, forgiven, now_s, trace),)
    ]


async def backlog(connection: Connection, partition: int, limit: int) -> tuple[float | None, int]:
    """In how many seconds the next delivery is due (None: there is none), and how many there are, up to a limit."""
    next_due_s, count = (await connection.execute(_sql["backlog"], (partition, limit))).rows[0]
    return next_due_s, count


async def done(connection: Connection, run: Run, id: EventId) -> None:
    """The event is delivered or dropped. The next one of its instance tree is due now."""
    await connection.execute(_sql["done"], (id.partition, id.position, id.seq, id.ordinal, run.id, run.lease))


async def failed(connection: Connection, run: Run, delivery: Delivery, error: str, delay_s: float | None) -> None:
    """An attempt has failed. The next one follows after `delay_s`; None: that was the last one."""
    id = delivery.id
    where = (id.partition, id.position, id.seq, id.ordinal, run.id, run.lease, delivery.attempts)
    await connection.execute(_sql["failed"], (*where, error, delay_s is None, delay_s or 0.0))


async def retry(connection: Connection, id: EventId, attempts: int) -> bool:
    """Try a dead letter again, which was seen after so many attempts. False if it has changed."""
    return await _change(connection, "retry", id, attempts)


async def drop(connection: Connection, id: EventId, attempts: int) -> bool:
    """Give a dead letter up, which was seen after so many attempts. False if it has changed."""
    return await _change(connection, "drop", id, attempts)


async def _change(connection: Connection, name: str, id: EventId, attempts: int) -> bool:
    values = (id.partition, id.position, id.seq, id.ordinal, attempts)
    return bool((await connection.execute(_sql[name], values)).rows)


async def search(
    connection: Connection, state: str | None = None, id: EventId | None = None, limit: int = 100
) -> list[DeliveryView]:
    """Deliveries in a state, or with an id; dead letters first."""
    place = (None, None, None, None) if id is None else (id.partition, id.position, id.seq, id.ordinal)
    rows = (await connection.execute(_sql["search"], (state, *place, limit))).rows
    return [DeliveryView(EventId(*row[:4]), *row[4:]) for row in rows]


async def counts(connection: Connection) -> dict[str, int]:
    """The number of deliveries in each state."""
    return dict((await connection.execute(_sql["counts"])).rows)
