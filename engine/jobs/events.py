"""Consumers of events: jobs that follow the event log, in order, partition by partition."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import trio

from vivero.core.records.base import Event
from vivero.core.records.codec import decode_events
from vivero.engine.jobs.definitions import Runs
from vivero.engine.jobs.execution import Connections, Execution, LeaseLost, TransactionalExecution
from vivero.storage.background import event_consumers
from vivero.storage.background.event_consumers import EventPlace, EventRow
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.driver import Connection

PAGE_ROWS = 200
_encode = msgspec.json.Encoder(decimal_format="number").encode


@dataclass(frozen=True, slots=True)
class OutboxEvent:
    """An event of the log. `position` is that of its command; `at_ms` is the engine's time in epoch ms."""

    partition: int
    position: int
    seq: int
    ordinal: int
    at_ms: int
    record: Event
    root: int | None = None
    """The key of the outermost process instance; None for events of no instance."""

    @property
    def type(self) -> str:
        """The name of the event, such as `ElementCompleted`."""
        return type(self.record).__name__

    @property
    def data(self) -> dict[str, Any]:
        """The fields of the event; JSON documents in them are decoded."""
        fields = {name: getattr(self.record, name) for name in self.record.__struct_fields__}
        data: dict[str, Any] = msgspec.json.decode(_encode(fields))
        return data

    @property
    def after(self) -> EventPlace:
        """The place after this event."""
        return EventPlace(self.position, self.seq, self.ordinal + 1)


@dataclass(slots=True)
class EventReader:
    """Reads the events of one run in order, and remembers how far it has read."""

    run: Run
    types: frozenset[str]
    """Empty: all."""
    latest: bool
    place: EventPlace | None = None
    caught_up: bool = False
    """Whether the last poll came to the end of the log."""
    last: EventPlace | None = None
    """The place after the last event that the function received."""
    acknowledged: EventPlace | None = None

    @property
    def settled(self) -> EventPlace | None:
        """The place up to which all events are acknowledged or of other types; None if nothing was read."""
        return self.place if self.last == self.acknowledged else None

    async def poll(self, connection: Connection, limit: int) -> Sequence[OutboxEvent]:
        """The next events of the types, up to about `limit`; none at the end of the log."""
        partition = self.run.partition or 1
        if self.place is None:
            self.place = await event_consumers.begin(connection, self.run.type, partition, self.latest)
        while True:
            rows = await event_consumers.read(connection, partition, self.place, min(limit, PAGE_ROWS))
            self.caught_up = not rows
            if not rows:
                return []
            new = [event for row in rows for event in self._events(partition, row)]
            self.place = rows[-1].after  # also of rows without events, which may fill a page
            found = [event for event in new if not self.types or event.type in self.types]
            if found:
                self.last = found[-1].after
                return found

    def _events(self, partition: int, row: EventRow) -> Sequence[OutboxEvent]:
        """The events of the row that were not read before."""
        place = self.place
        first = place.ordinal if place and (place.position, place.seq) == (row.position, row.seq) else 0
        return [
            OutboxEvent(partition, row.position, row.seq, ordinal, row.at_ms, record, row.root)
            for ordinal, record in enumerate(decode_events(row.events, row.version))
            if ordinal >= first
        ]

    async def acknowledge(self, connection: Connection, place: EventPlace) -> None:
        """Raises LeaseLost if the run is another node's by now."""
        if not await event_consumers.acknowledge(connection, self.run, place):
            raise LeaseLost(self.run.id)
        self.acknowledged = place


@dataclass(slots=True)
class TransactionalEvents(TransactionalExecution):
    """One run of a consumer that is a Trio function. Its writes and acknowledgements commit together: exactly once."""

    _reader: EventReader = field(kw_only=True)

    async def poll(self, limit: int = PAGE_ROWS) -> Sequence[OutboxEvent]:
        """The next events, in the order of the log; none at its end."""
        return await self._reader.poll(await self._opened(), limit)

    async def acknowledge(self, event: OutboxEvent) -> None:
        """Mark this event and all before it as processed."""
        await self._reader.acknowledge(await self._opened(), event.after)

    async def settle(self) -> None:
        """Skip events of other types."""
        if self._reader.settled is not None:
            await self._reader.acknowledge(await self._opened(), self._reader.settled)


@dataclass(slots=True)
class AsyncioEvents(Execution):
    """One run of a consumer that is an asyncio function. Acknowledgements are committed at once: at least once."""

    _connections: Connections
    _reader: EventReader

    async def poll(self, limit: int = PAGE_ROWS) -> Sequence[OutboxEvent]:
        """The next events, in the order of the log; none at its end."""
        found: Sequence[OutboxEvent] = await _call_trio(_poll, self._connections, self._reader, limit)
        return found

    async def acknowledge(self, event: OutboxEvent) -> None:
        """Mark this event and all before it as processed."""
        await _call_trio(_acknowledge, self._connections, self._reader, event.after)


async def _call_trio(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    from vivero.engine.jobs import asyncio_handlers  # it patches asyncio: only with a function that runs in asyncio

    return await asyncio_handlers.call_trio(function, *args)


@dataclass(slots=True)
class ThreadEvents(Execution):
    """One run of a consumer that is a plain function. Acknowledgements are committed at once: at least once."""

    _connections: Connections
    _reader: EventReader

    def poll(self, limit: int = PAGE_ROWS) -> Sequence[OutboxEvent]:
        """The next events, in the order of the log; none at its end."""
        return trio.from_thread.run(_poll, self._connections, self._reader, limit)

    def acknowledge(self, event: OutboxEvent) -> None:
        """Mark this event and all before it as processed."""
        trio.from_thread.run(_acknowledge, self._connections, self._reader, event.after)


async def _poll(connections: Connections, reader: EventReader, limit: int) -> Sequence[OutboxEvent]:
    async with connections() as connection:
        return await reader.poll(connection, limit)


async def _acknowledge(connections: Connections, reader: EventReader, place: EventPlace) -> None:
    async with connections() as connection:
        await reader.acknowledge(connection, place)


async def settle(connections: Connections, execution: Execution, reader: EventReader) -> None:
    """At the end of a run, skip events of other types. Raises LeaseLost."""
    if isinstance(execution, TransactionalEvents):
        await execution.settle()
    elif reader.settled is not None:
        await _acknowledge(connections, reader, reader.settled)


def execution_of(run: Run, runs: Runs, connections: Connections, reader: EventReader) -> Execution:
    """The execution that a consumer's function gets."""
    if runs is Runs.TRIO:
        return TransactionalEvents(run, connections, _reader=reader)
    made = AsyncioEvents if runs is Runs.ASYNCIO else ThreadEvents
    return made(run, connections, reader)
