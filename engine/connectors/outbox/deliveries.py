"""The outbox webhook: delivers events of the log to a URL, in the order of each instance tree, at least once.

It is a consumer of events, with one execution in each partition. A run first delivers what is due, and then adds new
events in the transaction that acknowledges them. Of each instance tree only the first event is tried; what follows
waits behind it, also behind a dead letter.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx
import msgspec
import structlog
import trio

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.signed_posts import post_signed
from vivero.engine.connectors.outbox.settings import TYPE, OutboxSettings
from vivero.engine.jobs.definitions import JobDefinition, RescheduleIn, Runs
from vivero.engine.jobs.events import OutboxEvent, TransactionalEvents
from vivero.engine.jobs.execution import Connections
from vivero.engine.tracing.current import CURRENT
from vivero.engine.tracing.tracer import Tracer
from vivero.engine.tracing.w3c import from_text
from vivero.storage.background import outbox
from vivero.storage.background.outbox import Delivery, EventId, NewDelivery

log = structlog.get_logger(__name__)

PAGE = 200
"""Events that one run adds at most."""
BUDGET_S = 2.0
"""A run begins no further deliveries after this time, so that new events are added meanwhile."""
MAX_ERROR = 500

_encode = msgspec.json.Encoder(decimal_format="number").encode


class Outbox:
    """The handler of the job."""

    def __init__(
        self, settings: OutboxSettings, connections: Callable[[], Connections], tracer: Tracer | None = None
    ) -> None:
        """`connections()`: lends connections beside the transaction of a run."""
        self._settings, self._connections, self._tracer = settings, connections, tracer

    def definition(self) -> JobDefinition:
        """The job, for the registry."""
        settings = self._settings
        return JobDefinition(TYPE, self.run, Runs.TRIO, settings.retry, follows=settings.follows)

    async def run(self, execution: TransactionalEvents) -> RescheduleIn | None:
        """Deliver what is due, and add new events."""
        next_due_s, waiting = await self._deliver(execution)
        most = min(PAGE, self._settings.max_waiting - waiting)
        events = await execution.poll(most) if most > 0 else ()
        if events:
            await outbox.add(execution.execute, execution.run, [_new(event) for event in events])
            await execution.acknowledge(events[-1])
            return RescheduleIn(0.0)
        return None if next_due_s is None else RescheduleIn(max(next_due_s, 0.0))

    async def _deliver(self, execution: TransactionalEvents) -> tuple[float | None, int]:
        """Deliver what is due. Returns in how many seconds more is due (None: nothing is), and how much waits."""
        partition = execution.run.partition or 1
        if await self._due(partition, 1):
            client = HttpClient(self._settings.client, tracer=self._tracer)
            try:
                await self._deliver_due(execution, client, partition)
            finally:
                with trio.CancelScope(shield=True):
                    await client.aclose()
        async with self._connections()() as connection:
            return await outbox.backlog(connection, partition, self._settings.max_waiting)

    async def _due(self, partition: int, most: int) -> list[Delivery]:
        async with self._connections()() as connection:
            return await outbox.due(connection, partition, most, traces=self._tracer is not None)

    async def _deliver_due(self, execution: TransactionalEvents, client: HttpClient, partition: int) -> None:
        """Deliver what is due, several at once, for `BUDGET_S`. A slow receiver holds no free place back."""
        until, most = trio.current_time() + BUDGET_S, self._settings.max_concurrent
        send, receive = trio.open_memory_channel[tuple[Delivery, str | None]](most)
        under_way: set[EventId] = set()

        async def deliver(delivery: Delivery) -> None:
            if delivery.trace is not None:
                CURRENT.set(from_text(delivery.trace))  # of this task alone
            send.send_nowait((delivery, None if delivery.dropped else await self._send(client, delivery)))

        async with trio.open_nursery() as nursery:
            while True:
                if trio.current_time() < until:
                    due = [each for each in await self._due(partition, 2 * most) if each.id not in under_way]
                    for each in due[: most - len(under_way)]:
                        under_way.add(each.id)
                        nursery.start_soon(deliver, each)
                if not under_way:
                    return
                ended = [await receive.receive()]
                while receive.statistics().current_buffer_used:
                    ended.append(receive.receive_nowait())
                await self._write(execution, ended)
                under_way.difference_update(each.id for each, _error in ended)

    async def _write(self, execution: TransactionalEvents, ended: list[tuple[Delivery, str | None]]) -> None:
        """Write the results of deliveries."""
        async with self._connections()() as connection:
            for each, error in ended:
                if error is None:
                    await outbox.done(connection, execution.run, each.id)
                else:
                    await outbox.failed(connection, execution.run, each, error, self._delay_s(each, error))

    def _delay_s(self, delivery: Delivery, error: str) -> float | None:
        """The pause before the next attempt; None after the last one."""
        retry, attempt = self._settings.retry, delivery.attempts - delivery.forgiven
        if retry.is_last(attempt):
            log.warning("an event is a dead letter", event_id=str(delivery.id), type=delivery.type)
            return None
        return retry.delay_s(attempt)

    async def _send(self, client: HttpClient, delivery: Delivery) -> str | None:
        """Deliver one event. Returns what went wrong."""
        url, secret = httpx.URL(self._settings.url), self._settings.secret
        try:
            return await post_signed(client, url, str(delivery.id), delivery.now_s, delivery.document.encode(), secret)
        except ConnectorError as error:
            return str(error)[:MAX_ERROR]


def _new(event: OutboxEvent) -> NewDelivery:
    id = EventId(event.partition, event.position, event.seq, event.ordinal)
    document = {
        "id": str(id),
        "type": event.type,
        "at": event.at_ms,
        "partitionId": event.partition,
        "commandPosition": str(event.position),
        "rootProcessInstanceKey": None if event.root is None else str(event.root),
        "data": event.data,
    }
    return NewDelivery(id, event.root or 0, event.type, _encode(document).decode())
