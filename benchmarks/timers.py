"""The speed at which overdue timers fire, the delay of timers that are alone, and the cost of pending ones.

`VIVERO_BENCH_PENDING` is how many pending timers the start is measured with (1,000,000; 10,000,000 takes minutes).
"""

from __future__ import annotations

import hashlib
import os
import resource
import sys
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import trio

from benchmarks.server import fresh_database
from vivero.core.bpmn.parser import parse
from vivero.core.events.starts import metadata_of
from vivero.core.execution.outcomes import Ended
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.catalogue import Deploy, ResourceReference
from vivero.core.records.instances import CreateInstance
from vivero.engine.appender.calls import Append
from vivero.engine.appender.task import Appender
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.timers.task import Timers
from vivero.program.program import tune_interpreter
from vivero.storage.cluster import clock
from vivero.storage.log.command_log import Appended, CommandOutcome
from vivero.storage.postgres import driver
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.pool import Pool
from vivero.storage.state.definitions import store_resources

OVERDUE = int(os.environ.get("VIVERO_BENCH_INSTANCES", "10000"))
ON_TIME, PER_SECOND = 500, 100
PENDING = int(os.environ.get("VIVERO_BENCH_PENDING", "1000000"))
PROBE_EVERY_S = 0.02
_STATM = Path("/proc/self/statm")

_WAITING = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org">
<process id="waiting" isExecutable="true"><startEvent id="s"/><intermediateCatchEvent id="wait"><timerEventDefinition>
<timeDate>=due</timeDate></timerEventDefinition></intermediateCatchEvent><endEvent id="e"/>
<sequenceFlow id="a" sourceRef="s" targetRef="wait"/><sequenceFlow id="b" sourceRef="wait" targetRef="e"/></process>
<process id="probe" isExecutable="true"><startEvent id="ps"/><endEvent id="pe"/>
<sequenceFlow id="c" sourceRef="ps" targetRef="pe"/></process></definitions>"""

_FILL = """
INSERT INTO timers (timer_key, partition_id, root_key, process_instance_key, element_instance_key,
    process_definition_key, process_id, target_element_id, type, due_at_ms, repetitions, state, tenant_id, created_at)
SELECT (1::bigint << 51) + 100000000 + i, 1, i, i, i, 1, 'p', 'wait', 'INTERMEDIATE',
    4000000000000 + (i * 7919) % 1000000007, 1, 'PENDING', '<default>', now()
FROM generate_series($1::bigint, $2::bigint) i
"""


class _Engine:
    """Appender, consumer and timers; hears of commits."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.watermark = 0
        self.ended = 0
        self.lateness_ms: list[float] = []
        self._due: dict[int, int] = {}
        self._moved = trio.Event()
        self.pool = Pool(lambda deadline: driver.connect(dsn, name="benchmark", deadline=deadline), 2)
        self.definitions = DefinitionCache(self.pool.connection)
        self.consumer = Consumer(lambda name: driver.connect(dsn, name=name), "benchmark", self.definitions, self)
        self.appender = Appender(
            lambda: driver.connect(dsn, name="appender"), appended=lambda *_: self.consumer.partition_duty.wake()
        )
        self.timers = Timers(
            lambda: driver.connect(dsn, name="timers"), self.appender, leads=lambda: self.consumer.partition_duty.leads
        )

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        self.watermark = watermark
        self.ended += len(ended)
        self.timers.committed(watermark)
        moved, self._moved = self._moved, trio.Event()
        moved.set()

    def available(self, type: str, tenant: str, count: int) -> None:
        pass

    def lease_new(self, jobs: NewJobs, now_ms: int) -> Sequence[NewJobLeases]:
        return ()

    def timers_changed(self, partition: int, changes: Mapping[int, tuple[int, str] | None]) -> None:
        now = time.time() * 1000
        for key, change in changes.items():
            if change is not None:
                self._due[key] = change[0]
            elif key in self._due:
                self.lateness_ms.append(now - self._due.pop(key))
        self.timers.changed(changes)

    def inbox_filled(self, partition: int) -> None:
        self.appender.inbox_filled(partition)

    def leads(self, partition: int, epoch: int) -> None:
        self.timers.term(epoch)

    async def until(self, watermark: int = 0, ended: int = 0) -> None:
        while self.watermark < watermark or self.ended < ended:
            await self._moved.wait()

    async def append(self, items: Sequence[Append]) -> list[Appended]:
        appended: list[Appended] = []
        for first in range(0, len(items), 1_000):
            appended += await self.appender.append_all(items[first : first + 1_000], deadline_s=60)
        return appended


@asynccontextmanager
async def _running(dsn: str) -> AsyncGenerator[tuple[_Engine, Connection]]:
    engine, connection = _Engine(dsn), await driver.connect(dsn, name="benchmark", call_timeout_s=600)
    async with trio.open_nursery() as nursery:
        for part in (engine.appender, engine.consumer, engine.timers):
            nursery.start_soon(part.run, Beat(SupervisionSettings()))
        yield engine, connection
        nursery.cancel_scope.cancel()
    connection.close()
    engine.pool.close()


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Timers a second, lateness, and what starting costs."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        tune_interpreter()
        async with _running(dsn) as (engine, connection):
            await _deploy(engine, connection)
            figures = await _overdue(engine, connection)
            figures |= await _on_time(engine, connection)
        figures |= await _start(dsn)
    return figures, notes | {"overdue": f"{OVERDUE:,}", "pending": f"{PENDING:,}"}


async def _deploy(engine: _Engine, connection: Connection) -> None:
    digest, parsed = hashlib.sha256(_WAITING).hexdigest(), parse(_WAITING, "waiting.bpmn")
    await store_resources(connection, [(digest, _WAITING)])
    engine.definitions.put(digest, parsed)
    deploy = Deploy((ResourceReference("waiting.bpmn", digest, tuple(map(metadata_of, parsed.processes))),))
    (appended,) = await engine.append([Append(deploy, DEFAULT_TENANT)])
    await engine.until(appended.position)


def _waiting(due: str) -> Append:
    variables = {"due": msgspec.Raw(msgspec.json.encode(due))}
    return Append(CreateInstance("waiting", variables=variables), DEFAULT_TENANT)


async def _overdue(engine: _Engine, connection: Connection) -> dict[str, float]:
    """All due at one moment that has passed; meanwhile clients go on."""
    await clock.pin(connection, 1_800_000_000_000)
    began = time.perf_counter()
    appended = await engine.append([_waiting("2027-02-01T00:00:00Z")] * OVERDUE)
    await engine.until(appended[-1].position)
    created = time.perf_counter() - began
    latencies: list[float] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_probe, engine, latencies)
        await clock.pin(connection, 1_900_000_000_000)
        began, before = time.perf_counter(), engine.timers.stats.fired
        engine.timers.clock_changed()
        fired = 0
        while fired < OVERDUE:
            await engine.until(engine.watermark + 1)
            fired = engine.timers.stats.fired - before
        await engine.until(engine.appender.last_position(1))
        seconds = time.perf_counter() - began
        nursery.cancel_scope.cancel()
    return {
        "created_per_s": OVERDUE / created,
        "fired_per_s": OVERDUE / seconds,
        "command_ms_p50_meanwhile": _percentile(latencies, 50),
        "command_ms_p99_meanwhile": _percentile(latencies, 99),
    }


async def _probe(engine: _Engine, latencies: list[float]) -> None:
    """A client that starts an instance and waits until that is processed, again and again."""
    while True:
        began = trio.current_time()
        appended = await engine.appender.append(Append(CreateInstance("probe"), DEFAULT_TENANT), deadline_s=30)
        await engine.until(appended.position)
        latencies.append((trio.current_time() - began) * 1000)
        await trio.sleep(PROBE_EVERY_S)


async def _on_time(engine: _Engine, connection: Connection) -> dict[str, float]:
    """From the due date to the commit of what it caused, with nothing else to do."""
    await clock.reset(connection)
    engine.timers.clock_changed()
    begin = time.time() + 3
    moments = [begin + number / PER_SECOND for number in range(ON_TIME)]
    engine.lateness_ms.clear()
    expected = engine.ended + ON_TIME
    await engine.append([_waiting(_iso(moment)) for moment in moments])
    await engine.until(ended=expected)
    return {
        "lateness_ms_p50": _percentile(engine.lateness_ms, 50),
        "lateness_ms_p99": _percentile(engine.lateness_ms, 99),
    }


def _iso(moment: float) -> str:
    whole = int(moment)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int((moment - whole) * 1000):03}Z"


async def _start(dsn: str) -> dict[str, float]:
    """With so many pending, in a new process: from the start of the task to its first sleep, and what it holds."""
    connection = await driver.connect(dsn, name="benchmark", call_timeout_s=3600)
    for first in range(1, PENDING + 1, 1_000_000):
        await connection.execute(_FILL, (first, min(first + 999_999, PENDING)))
    await connection.execute("VACUUM ANALYZE timers")
    connection.close()
    done = await trio.run_process([sys.executable, "-m", "benchmarks.timers", dsn], capture_stdout=True)
    return msgspec.json.decode(done.stdout, type=dict[str, float])


async def _first_window(dsn: str) -> dict[str, float]:
    timers = Timers(lambda: driver.connect(dsn, name="timers"), Appender(lambda: driver.connect(dsn, name="none")))
    before, began = _resident_mb(), time.perf_counter()
    connection = await driver.connect(dsn, name="timers")
    await timers.run_once(connection, Beat(SupervisionSettings()))
    seconds = time.perf_counter() - began
    if timers.stats.refills != 1:
        raise RuntimeError("the window was not read")
    connection.close()
    return {"start_ms_with_pending": seconds * 1000, "start_memory_mb": _resident_mb() - before}


def _resident_mb() -> float:
    """Now, where the system says so; otherwise the most so far."""
    if _STATM.exists():
        return int(_STATM.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _percentile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


if __name__ == "__main__":
    print(msgspec.json.encode(trio.run(_first_window, sys.argv[1])).decode())
