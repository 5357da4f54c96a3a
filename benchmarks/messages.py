"""A million kept messages: what publishing, finding them, starting with them and their end cost; and a signal for many.

`VIVERO_BENCH_MESSAGES` is how many are kept (1,000,000); a tenth of them expire at one moment, another tenth have one
correlation key. As many instances as `VIVERO_BENCH_INSTANCES` says (10,000) wait for the signal. Latencies are of a
client that does one thing after the other and waits for each outcome.
"""

from __future__ import annotations

import hashlib
import os
import resource
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec
import trio

from benchmarks.server import fresh_database
from vivero.core.bpmn.parser import parse
from vivero.core.events.starts import metadata_of
from vivero.core.execution.outcomes import Ended
from vivero.core.records.base import DEFAULT_TENANT, Command
from vivero.core.records.catalogue import Deploy, ResourceReference
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.engine.appender.calls import Append
from vivero.engine.appender.task import Appender
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.retention.chores import ChoreSettings, dispatcher_settings, of_partitions
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.program.program import tune_interpreter
from vivero.storage.cluster import clock
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.plans import CHORES
from vivero.storage.postgres.pool import Pool
from vivero.storage.state.definitions import store_resources

MESSAGES = int(os.environ.get("VIVERO_BENCH_MESSAGES", "1000000"))
EXPIRING = ONE_KEY = MESSAGES // 10
COMMANDS = int(os.environ.get("VIVERO_BENCH_INSTANCES", "10000"))
PROBES = 300
PROBE_EVERY_S = 0.02
START_MS = 1_800_000_000_000
EXPIRE_MS = START_MS + 3_600_000
LATER_MS = START_MS + 86_400_000

_MODEL = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><message id="m" name="paid"><extensionElements>
<zeebe:subscription correlationKey="=k"/></extensionElements></message>
<process id="waiting" isExecutable="true"><startEvent id="s"/><receiveTask id="wait" messageRef="m"/><endEvent id="e"/>
<sequenceFlow id="a" sourceRef="s" targetRef="wait"/><sequenceFlow id="b" sourceRef="wait" targetRef="e"/></process>
<signal id="g" name="alarm"/><process id="alarmed" isExecutable="true"><startEvent id="as"/>
<intermediateCatchEvent id="hears"><signalEventDefinition signalRef="g"/></intermediateCatchEvent><endEvent id="ae"/>
<sequenceFlow id="d" sourceRef="as" targetRef="hears"/><sequenceFlow id="f" sourceRef="hears" targetRef="ae"/></process>
<process id="probe" isExecutable="true"><startEvent id="ps"/><endEvent id="pe"/>
<sequenceFlow id="c" sourceRef="ps" targetRef="pe"/></process></definitions>"""

_FILL = """
INSERT INTO messages
    (message_key, partition_id, tenant_id, name, correlation_key, message_id, deadline_ms, variables, given)
SELECT (1::bigint << 51) + 100000000 + i, 1, '<default>', 'paid', CASE WHEN i <= $3 THEN 'all' ELSE 'order-' || i END,
    CASE WHEN i % 2 = 0 THEN 'id-' || i END, $4 + CASE WHEN $5 THEN 0 ELSE i END,
    '{"amount":"12.50","note":"\\"as agreed\\""}', '{}'
FROM generate_series($1::bigint, $2::bigint) i
"""

_EXPIRED = "SELECT EXISTS (SELECT FROM messages WHERE partition_id = 1 AND deadline_ms <= $1)"


class _Engine:
    """Appender, consumer and the chore that deletes expired messages; hears of commits."""

    def __init__(self, dsn: str) -> None:
        self.watermark = 0
        self.ended = 0
        self._moved = trio.Event()
        self.pool = Pool(lambda deadline: driver.connect(dsn, name="benchmark", deadline=deadline), 2)
        self.definitions = DefinitionCache(self.pool.connection)
        self.consumer = Consumer(lambda name: driver.connect(dsn, name=name), "benchmark", self.definitions, self)
        self.appender = Appender(
            lambda: driver.connect(dsn, name="appender"), appended=lambda *_: self.consumer.partition_duty.wake()
        )
        self.chores = JobDispatcher(
            lambda: driver.connect(dsn, name="chores", settings=CHORES),
            self.pool.connection,
            "benchmark",
            of_partitions(ChoreSettings(), self.pool.connection),
            dispatcher_settings({}),
            chores=True,
        )

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        if refused := [outcome.rejection for outcome in outcomes if outcome.rejection is not None]:
            raise RuntimeError(f"a command was rejected: {refused[0]}")
        self.watermark = watermark
        self.ended += len(ended)
        moved, self._moved = self._moved, trio.Event()
        moved.set()

    def available(self, type: str, tenant: str, count: int) -> None:
        pass

    def lease_new(self, jobs: NewJobs, now_ms: int) -> Sequence[NewJobLeases]:
        return ()

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None]) -> None:
        pass

    def inbox_filled(self, partition: int) -> None:
        self.appender.inbox_filled(partition)

    def leads(self, partition: int, epoch: int) -> None:
        pass

    async def until(self, watermark: int = 0, ended: int = 0) -> None:
        while self.watermark < watermark or self.ended < ended:
            await self._moved.wait()

    async def do(self, command: Command) -> None:
        """One command, until it is processed."""
        appended = await self.appender.append(Append(command, DEFAULT_TENANT), deadline_s=60)
        await self.until(appended.position)

    async def do_all(self, commands: list[Command]) -> float:
        """Many commands, until they are processed; how many a second."""
        began = time.perf_counter()
        for first in range(0, len(commands), 1_000):
            items = [Append(command, DEFAULT_TENANT) for command in commands[first : first + 1_000]]
            appended = await self.appender.append_all(items, deadline_s=60)
        await self.until(appended[-1].position)
        return len(commands) / (time.perf_counter() - began)


@asynccontextmanager
async def _running(dsn: str) -> AsyncGenerator[_Engine]:
    engine = _Engine(dsn)
    async with trio.open_nursery() as nursery:
        for part in (engine.appender, engine.consumer, engine.chores):
            nursery.start_soon(part.run, Beat(SupervisionSettings()))
        yield engine
        nursery.cancel_scope.cancel()
    engine.pool.close()


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Commands a second and their latencies, without and with kept messages, and while many of them expire."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        tune_interpreter()
        connection = await driver.connect(dsn, name="benchmark", call_timeout_s=3600)
        await clock.pin(connection, START_MS)
        async with _running(dsn) as engine:
            await _deploy(engine, connection)
            figures = await _measure(engine, "empty")
        await _fill(connection)
        before, began = _resident_mb(), time.perf_counter()
        async with _running(dsn) as engine:
            await engine.do(CreateInstance("probe"))
            figures["start_ms"] = (time.perf_counter() - began) * 1000
            figures |= await _measure(engine, "full")
            figures |= await _one_key(engine)
            figures |= await _expire(engine, connection)
            figures |= await _signal(engine)
        figures["memory_mb"] = _resident_mb() - before
        connection.close()
    return figures, notes | {"kept": f"{MESSAGES:,}", "expiring at once": f"{EXPIRING:,}"}


async def _deploy(engine: _Engine, connection: Connection) -> None:
    digest, parsed = hashlib.sha256(_MODEL).hexdigest(), parse(_MODEL, "messages.bpmn")
    await store_resources(connection, [(digest, _MODEL)])
    engine.definitions.put(digest, parsed)
    await engine.do(Deploy((ResourceReference("messages.bpmn", digest, tuple(map(metadata_of, parsed.processes))),)))


async def _fill(connection: Connection) -> None:
    """A tenth with one key, a tenth that expires at one moment, the rest later."""
    await connection.execute(_FILL, (1, EXPIRING, 0, EXPIRE_MS, True))
    for first in range(EXPIRING + 1, MESSAGES + 1, 100_000):
        last = min(first + 99_999, MESSAGES)
        await connection.execute(_FILL, (first, last, EXPIRING + ONE_KEY, LATER_MS, False))
    await connection.execute("VACUUM ANALYZE messages")


async def _measure(engine: _Engine, state: str) -> dict[str, float]:
    """Publishing, with an id that must be unique; waiting for what is kept; one at a time, and as many as can be."""
    commands: list[Command] = [_published(f"{state}-{number}") for number in range(COMMANDS)]
    figures = {f"publish_per_s_{state}": await engine.do_all(commands)}
    ended = engine.ended
    figures[f"correlate_per_s_{state}"] = await engine.do_all([_waiting(f"{state}-{n}") for n in range(COMMANDS)])
    if engine.ended - ended != COMMANDS:
        raise RuntimeError(f"{engine.ended - ended} of {COMMANDS} instances found their message")
    for name, make in (("publish", _published), ("correlate", _waiting), ("other", _probe)):
        latencies = await _latencies(engine, make, f"{state}-one-")
        figures[f"{name}_ms_p50_{state}"] = _percentile(latencies, 50)
        figures[f"{name}_ms_p99_{state}"] = _percentile(latencies, 99)
    return figures


async def _one_key(engine: _Engine) -> dict[str, float]:
    """Instances that wait with the key that so many messages have: each gets the next one."""
    count, ended = min(PROBES, ONE_KEY), engine.ended
    began = time.perf_counter()
    for _ in range(count):
        await engine.do(_waiting("all"))
    if engine.ended - ended != count:
        raise RuntimeError("they did not get a message each")
    return {"correlate_ms_one_key": (time.perf_counter() - began) * 1000 / count}


async def _expire(engine: _Engine, connection: Connection) -> dict[str, float]:
    """A tenth of all is over at one moment: how long it takes, and what others notice."""
    latencies: list[float] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_probing, engine, latencies)
        began = time.perf_counter()
        await clock.pin(connection, EXPIRE_MS)
        with trio.fail_after(600):
            while (await connection.execute(_EXPIRED, (EXPIRE_MS,))).rows[0][0]:  # noqa: ASYNC110
                await trio.sleep(0.1)
        seconds = time.perf_counter() - began
        nursery.cancel_scope.cancel()
    return {
        "expired_per_s": EXPIRING / seconds,
        "other_ms_p50_expiring": _percentile(latencies, 50),
        "other_ms_p99_expiring": _percentile(latencies, 99),
    }


async def _signal(engine: _Engine) -> dict[str, float]:
    """Everybody waits for one signal: how long it takes until the last one has it, and what others notice."""
    await engine.do_all([CreateInstance("alarmed") for _ in range(COMMANDS)])
    latencies: list[float] = []
    before = engine.ended
    async with trio.open_nursery() as nursery:
        began = time.perf_counter()
        await engine.do(BroadcastSignal("alarm"))
        answered = time.perf_counter() - began
        nursery.start_soon(_probing, engine, latencies)
        with trio.fail_after(600):
            while engine.ended < before + COMMANDS + len(latencies):  # the client's instances end, too
                await engine.until(ended=engine.ended + 1)
        seconds = time.perf_counter() - began
        nursery.cancel_scope.cancel()
    return {
        "signal_answered_ms": answered * 1000,
        "signalled_per_s": COMMANDS / seconds,
        "other_ms_p50_signalling": _percentile(latencies, 50),
        "other_ms_p99_signalling": _percentile(latencies, 99),
    }


async def _probing(engine: _Engine, latencies: list[float]) -> None:
    while True:
        latencies += await _latencies(engine, _probe, "", 1)
        await trio.sleep(PROBE_EVERY_S)


async def _latencies(engine: _Engine, make: Callable[[str], Command], prefix: str, count: int = PROBES) -> list[float]:
    """Milliseconds from a command to its outcome."""
    found = []
    for number in range(count):
        began = trio.current_time()
        await engine.do(make(f"{prefix}{number}"))
        found.append((trio.current_time() - began) * 1000)
    return found


def _published(key: str) -> Command:
    variables = {"amount": msgspec.Raw(b"12.50")}
    return PublishMessage("paid", key, 43_200_000, f"id-of-{key}", variables)


def _waiting(key: str) -> Command:
    return CreateInstance("waiting", variables={"k": msgspec.Raw(msgspec.json.encode(key))})


def _probe(_key: str) -> Command:
    return CreateInstance("probe")


def _resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _percentile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]
