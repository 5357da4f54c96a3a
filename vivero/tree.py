"""The supervision tree: what runs, on one screen. The only place that puts the parts together.

        HTTP ──► api ──► appender ──► command_log
                 ▲                        │ wake, NOTIFY
                 │ completions            ▼
                 └──────────────────── consumer ──► state, events and cursor in one transaction
                                          │
listener ◄── NOTIFY ◄── announcer ◄───────┘
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog
import trio

from vivero.api import app, server
from vivero.api.job_board import JobBoard
from vivero.api.services import Services
from vivero.api.waits import Waits
from vivero.config import Config
from vivero.engine.bpmn.parser import parse
from vivero.engine.bpmn.xml import LIMITS
from vivero.engine.core.outcomes import Ended
from vivero.engine.runtime.appender.task import Appender
from vivero.engine.runtime.completions import Completions
from vivero.engine.runtime.consumer.leadership import Consumer
from vivero.engine.runtime.consumer.piggyback import PiggybackedStatement, Subject
from vivero.engine.runtime.definitions import DefinitionCache
from vivero.engine.runtime.expiry import Expiry
from vivero.engine.runtime.maintenance import Maintenance
from vivero.engine.runtime.retention import Retention
from vivero.engine.runtime.supervision.beat import Beat
from vivero.engine.runtime.supervision.children import Child
from vivero.engine.runtime.supervision.loop_probe import LoopProbe
from vivero.engine.runtime.supervision.supervisor import Supervisor
from vivero.engine.runtime.supervision.watchdog import Watchdog
from vivero.engine.runtime.timers.task import Changes, Timers
from vivero.storage import attempts
from vivero.storage.clock import CLOCK_CHANNEL as CLOCK
from vivero.storage.log import Outcome
from vivero.storage.postgres import announcer as announcing
from vivero.storage.postgres import driver
from vivero.storage.postgres.announcer import Announcer
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.listener import Listener
from vivero.storage.postgres.plans import BY_INDEX, CHORES, ONCE
from vivero.storage.postgres.pool import Pool
from vivero.storage.state.save import DEFINITIONS_CHANNEL as DEFINITIONS

log = structlog.get_logger(__name__)

PARTITION = 1
READ_TIMEOUT = "5s"
"""The server ends a heavy search that nobody waits for any more."""
Connect = Callable[..., Callable[[], Awaitable[Connection]]]
"""(name of a connection, settings of its session) -> what makes it."""
ENDS_WITHIN_S = 1.0
"""When the program stops: how long the ends of instances are still waited for."""
APPENDED, PROCESSED, AVAILABLE = "vivero_appended", "vivero_processed", "vivero_available"
CHANNELS = (APPENDED, PROCESSED, AVAILABLE, DEFINITIONS, CLOCK)


@dataclass(slots=True)
class Tree:
    """The parts of a running program, for whoever looks inside: tests, metrics."""

    supervisor: Supervisor
    appender: Appender
    consumer: Consumer
    completions: Completions
    definitions: DefinitionCache
    pools: tuple[Pool, ...]
    job_board: JobBoard
    timers: Timers
    probe: LoopProbe = field(default_factory=LoopProbe)
    """For how long the event loop computed at most without serving anybody."""


class Switchboard:
    """Who hears of what: the tasks of this node at once, other nodes through the announcer."""

    def __init__(
        self, completions: Completions, definitions: DefinitionCache, job_board: JobBoard, announcer: Announcer
    ) -> None:
        self._completions = completions
        self._definitions = definitions
        self._job_board = job_board
        self._announcer = announcer
        self._unreadable = 0
        self.consumer: Consumer | None = None
        self.appender: Appender | None = None
        self.timers: Timers | None = None

    # ---- the appender says

    def appended(self, partition: int, position: int) -> None:
        if self.consumer is not None and self.consumer.leads:
            self.consumer.wake()
        else:
            self._announcer.announce(APPENDED, str(partition), position)

    def coming(self) -> bool:
        return self.appender is not None and self.appender.busy

    # ---- the consumer says

    def committed(self, partition: int, watermark: int, outcomes: list[Outcome], ended: list[Ended]) -> None:
        self._completions.committed(partition, watermark, outcomes, ended)
        self._announcer.announce(PROCESSED, str(partition), watermark)
        if self.appender is not None:
            self.appender.processed(partition)
        if self.timers is not None:
            self.timers.committed(watermark)

    def available(self, type: str, tenant: str, count: int) -> None:
        self._job_board.available(type, tenant, count)
        self._announcer.announce(AVAILABLE, f"{tenant}\n{type}", count)

    def piggybacked(self, available: Mapping[Subject, int]) -> Sequence[PiggybackedStatement]:
        return self._job_board.piggybacked(available)

    def spilled(self, partition: int) -> None:
        if self.appender is not None:
            self.appender.spilled(partition)

    def timers_changed(self, partition: int, changes: Changes) -> None:
        if self.timers is not None:
            self.timers.changed(changes)

    def leads(self, partition: int, epoch: int) -> None:
        self._completions.sweep_soon()
        if self.timers is not None:
            self.timers.term(epoch)

    # ---- the API says, or another node's

    def clock_changed(self) -> None:
        self._job_board.wake_all()
        if self.timers is not None:
            self.timers.clock_changed()

    # ---- other nodes say

    def heard(self, channel: str, payload: str) -> None:
        if channel == DEFINITIONS:
            self._definitions.changed(payload)
            return
        if channel == CLOCK:
            self.clock_changed()
            return
        announced = announcing.decode(payload)
        if announced is None:
            self._unreadable += 1
            if self._unreadable.bit_count() == 1:  # 1, 2, 4, 8, …: somebody may send thousands a second
                log.warning("unreadable notifications", so_far=self._unreadable, payload=payload[:100])
            return
        for key, value in announced.items():
            if channel == APPENDED and self.consumer is not None:
                self.consumer.wake()
            elif channel == PROCESSED:
                self._completions.processed(int(key), value)
            elif channel == AVAILABLE:
                tenant, _, type_ = key.partition("\n")
                self._job_board.available(type_, tenant, value)

    def connected(self, connected: bool) -> None:
        """What was said in between is lost: look once."""
        if connected:
            self._definitions.forget()
            self._completions.sweep_soon()
            self.clock_changed()
            if self.consumer is not None:
                self.consumer.wake()


def _connection(dsn: str, name: str, **settings: str) -> Callable[[], Awaitable[Connection]]:
    return lambda: driver.connect(dsn, name=f"vivero:{name}", settings=settings)


def _connection_before(dsn: str, name: str, **settings: str) -> Callable[[float], Awaitable[Connection]]:
    return lambda deadline: driver.connect(dsn, name=f"vivero:{name}", settings=settings, deadline=deadline)


def _abort(*pools: Pool) -> None:
    for pool in pools:
        pool.abort()


def _chores(config: Config, connection: Connect, leads: Callable[[], bool]) -> Iterator[Child]:
    """What keeps the tables small, each over a connection of its own, where this node leads."""
    expiry = Expiry(connection("expiry", **CHORES), config.expiry, PARTITION, leads)
    yield Child("expiry", expiry.run, expiry.close)
    maintenance = Maintenance(connection("maintenance", **CHORES), config.maintenance, PARTITION, leads)
    yield Child("maintenance", maintenance.run, maintenance.close)
    retention = Retention(connection("retention", **CHORES), config.retention, leads)
    yield Child("retention", retention.run, retention.close)


def _pools(connection: Callable[..., Callable[[float], Awaitable[Connection]]], size: int) -> tuple[Pool, Pool, Pool]:
    """One for each kind of work: reads, leasing jobs, and reading large jobs."""
    api = Pool(connection("api", statement_timeout=READ_TIMEOUT, **BY_INDEX), size)
    leasing = Pool(connection("leasing", statement_timeout=READ_TIMEOUT, **ONCE), size)
    large_jobs = Pool(connection("large-jobs", statement_timeout=READ_TIMEOUT, **ONCE), max(1, size // 4))
    return api, leasing, large_jobs


def build(
    config: Config, dsn: str, node: str, listeners: Sequence[trio.SocketListener], others: Sequence[Child] = ()
) -> Tree:
    """All parts, connected. `node` is unique to this process; `others` are children that look after PostgreSQL."""
    drain = trio.Event()

    connection, before = partial(_connection, dsn), partial(_connection_before, dsn)
    pool, leasing, large_jobs = pools = _pools(before, config.database.pool_size)
    completions = Completions(connection("completions"))
    limits = replace(LIMITS, feel=config.feel.limits)
    definitions = DefinitionCache(pool.connection, read=partial(parse, limits=limits))
    max_waiting = min(config.api.max_waiting, config.http.max_connections * 3 // 4)
    job_board = JobBoard(max_waiting, config.api.slow_poll_s, config.api.activations_bytes)
    announcer = Announcer(before("announcer"), needed=lambda: not listener.alone)
    switchboard = Switchboard(completions, definitions, job_board, announcer)
    consumer = Consumer(
        lambda name: driver.connect(dsn, name=name),
        node,
        definitions,
        switchboard,
        config.consumer,
        PARTITION,
        config.timers.rules,
        switchboard.coming,
    )
    appender = Appender(
        connection("appender"),
        config.appender,
        appended=switchboard.appended,
        handed=lambda _partition, segment: consumer.take(segment),
        consumed=lambda _partition: consumer.consumed(),
        owned=lambda: (PARTITION,) if consumer.leads else (),
    )
    timers = Timers(connection("timers"), appender, config.timers, PARTITION, lambda: consumer.leads)
    switchboard.consumer, switchboard.appender, switchboard.timers = consumer, appender, timers
    listener = Listener(before("listener"), CHANNELS, switchboard.heard, switchboard.connected)

    def finish() -> None:
        """The API ends: no long poll waits for its time to be over."""
        drain.set()
        job_board.close()

    async def serve(beat: Beat) -> None:
        services = Services(
            appender, completions, definitions, pool, leasing, large_jobs, job_board, supervisor, config.api,
            supervisor.chaos if config.chaos else None,
            switchboard.clock_changed if config.control_clock else None,
            node,
            limits,
            Waits(max_waiting),
        )  # fmt: skip
        await server.serve(app.build(services), listeners, settings=config.http, drain=drain, beat=beat.beat)

    supervisor = Supervisor(
        [
            Child("api", serve, partial(_abort, *pools), finish),
            Child("appender", appender.run, appender.close, appender.drain),
            Child("consumer", consumer.run, consumer.close),
            Child("timers", timers.run, timers.close),
            *_chores(config, connection, lambda: consumer.leads),
            Child("completions", completions.run, completions.close),
            Child("listener", listener.run, listener.abort),
            Child("announcer", announcer.run, announcer.abort),
            *others,
        ],
        config.supervision,
    )
    return Tree(supervisor, appender, consumer, completions, definitions, pools, job_board, timers)


async def run(
    config: Config,
    dsn: str,
    node: str,
    listeners: Sequence[trio.SocketListener],
    stop: trio.Event,
    started: Callable[[Tree], None] = lambda _tree: None,
    others: Sequence[Child] = (),
) -> None:
    """Run until `stop` is set: then the API finishes what it has, the appender too, and the rest is cancelled.

    Raises:
        Escalated: too many failures; the process should end non-zero.
    """
    tree = build(config, dsn, node, listeners, others)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop, tree, stop, config.drain_s, nursery.cancel_scope)
        note = partial(tree.consumer.accuse, partial(attempts.leave_note, dsn))
        watchdog = Watchdog(config.supervision.blocked_after_s, last_words=note)
        with watchdog.thread(), tree.probe.watching():
            nursery.start_soon(watchdog.run)
            started(tree)
            await tree.supervisor.run()
        nursery.cancel_scope.cancel()
    for pool in tree.pools:
        pool.close()


async def _stop(tree: Tree, stop: trio.Event, grace_s: float, everything: trio.CancelScope) -> None:
    await stop.wait()
    log.info("stopping: finishing what was begun", grace_s=grace_s)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_waiting, tree.completions)
        await tree.supervisor.stop("api", grace_s)
        nursery.cancel_scope.cancel()
    await tree.supervisor.stop("appender", grace_s)
    everything.cancel()


async def _stop_waiting(completions: Completions) -> None:
    """Who waits for the end of an instance gets a moment, and then an answer that names it: jobs may take long."""
    await trio.sleep(ENDS_WITHIN_S)
    completions.give_up_ends()
