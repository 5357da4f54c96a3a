"""Consumers of the event log: how far each has come in each partition (`engine/jobs/events.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

MAX_PAGE_BYTES = 4_000_000
"""Rows of a page beyond this size wait for the next page."""


class EventPlace(msgspec.Struct, frozen=True, order=True, gc=False):
    """The next event to read: the row, and the number of the event in the row."""

    position: int
    seq: int
    ordinal: int


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """A row of the event log. `events` is JSON."""

    position: int
    seq: int
    events: str
    at_ms: int
    root: int | None
    """The root of the instance tree; None for events of no instance."""
    version: int

    @property
    def after(self) -> EventPlace:
        """The place after this row."""
        return EventPlace(self.position, self.seq + 1, 0)


class ConsumerPlace(msgspec.Struct, frozen=True, gc=False):
    """The place of a consumer in a partition; `behind` counts positions of commands."""

    consumer: str
    partition: int
    position: int
    behind: int
    acknowledged_ms: int


async def begin(connection: Connection, consumer: str, partition: int, latest: bool) -> EventPlace:
    """The position of the consumer. A new one begins with the first kept event, or, with `latest`, with the next."""
    return EventPlace(*(await connection.execute(_sql["begin"], (consumer, partition, latest))).rows[0])


async def read(connection: Connection, partition: int, place: EventPlace, limit: int) -> Sequence[EventRow]:
    """Up to `limit` rows from the place on."""
    values = (partition, place.position, place.seq, limit, MAX_PAGE_BYTES)
    return [EventRow(*row) for row in (await connection.execute(_sql["read"], values)).rows]


async def acknowledge(connection: Connection, run: Run, place: EventPlace) -> bool:
    """Moves the place of the run's consumer forward. False if the run has lost its lease."""
    values = (run.type, run.partition, place.position, place.seq, place.ordinal, run.id, run.lease)
    return bool((await connection.execute(_sql["acknowledge"], values)).rows)


async def drop(connection: Connection, found: Sequence[ConsumerPlace], deliveries: bool) -> bool:
    """Forget a consumer, in the caller's transaction: its places as they were read, and its executions.

    `deliveries`: what the outbox has not delivered, too. False if it has moved, or a node runs it: then roll back.
    """
    partitions, positions = [each.partition for each in found], [each.position for each in found]
    values = (found[0].consumer, partitions, positions, deliveries)
    return len((await connection.execute(_sql["drop"], values)).rows) == len(found)


async def places(connection: Connection) -> list[ConsumerPlace]:
    """All consumers in all partitions."""
    return [ConsumerPlace(*row) for row in (await connection.execute(_sql["places"])).rows]
