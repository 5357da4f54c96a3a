"""The table of counters and gauges: name, unit, meaning, and where its numbers come from.

Names and units follow OpenTelemetry; Prometheus shows `vivero.commands` as `vivero_commands_total`, and seconds with
the ending `_seconds`. Every label has few values: intents, tasks, partitions, tables, and job types up to a limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from time import monotonic
from typing import Any

from vivero.api.activation.long_polls import LongPolls
from vivero.api.http.metrics import RequestFigures
from vivero.api.http1.figures import HttpFigures
from vivero.core.agents.wires.prices import MILLIONTHS
from vivero.engine.appender.task import Appender
from vivero.engine.compute.pool import ComputePool
from vivero.engine.connectors.receivers.states import ReceiverFigures
from vivero.engine.connectors.work.agent_figures import AgentFigures
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.counters.counts_by_type import MAX_TYPES, OTHER, CountsByType
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.failures import REASONS
from vivero.engine.supervision.loop_probe import LoopProbe
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.timers.task import Timers
from vivero.metrics.database_figures import TURN_S, DatabaseFigures, GroupReading
from vivero.metrics.sources import NamedPool, Sources, SpanCounts
from vivero.web.live import Hub

OVERDUE_S = 3 * TURN_S
"""The lag is read each turn. After this time without a reading, it is taken to grow."""

Observed = tuple[float, Mapping[str, str]]
"""A value and its labels."""


class InstrumentKind(Enum):
    """A counter only grows while the program runs."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True, slots=True)
class Instrument:
    """A row of the table."""

    name: str
    kind: InstrumentKind
    unit: str
    description: str
    read: Callable[[Sources], Iterable[Observed]]


def counter(name: str, unit: str, description: str, read: Callable[[Sources], Iterable[Observed]]) -> Instrument:
    return Instrument(f"vivero.{name}", InstrumentKind.COUNTER, unit, description, read)


def gauge(name: str, unit: str, description: str, read: Callable[[Sources], Iterable[Observed]]) -> Instrument:
    return Instrument(f"vivero.{name}", InstrumentKind.GAUGE, unit, description, read)


def one(kind: type[Any], name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A single number without labels, such as `stats.calls`; nothing if the node has no such part."""
    read = attrgetter(name)
    return lambda sources: ((read(found), {}) for found in sources.of(kind))


def _partition(consumer: Consumer) -> Mapping[str, str]:
    return {"partition": str(consumer.partition)}


def of_consumers(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A number of each consumer's figures, by partition."""

    def read(sources: Sources) -> Iterator[Observed]:
        for consumer in sources.of(Consumer):
            yield getattr(consumer.stats, name), _partition(consumer)

    return read


def of_timers(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """The sum over the timers of all partitions."""
    return lambda sources: ((sum(getattr(timers.stats, name) for timers in sources.of(Timers)), {}),)


def of_cache(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A figure of the cache of definitions."""
    return one(DefinitionCache, f"stats.{name}")


def of_compute(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A figure of the compute processes."""
    return one(ComputePool, f"stats.{name}")


def of_pools(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A number of each connection pool's figures."""

    def read(sources: Sources) -> Iterator[Observed]:
        for named in sources.of(NamedPool):
            yield getattr(named.pool.stats, name), {"pool": named.name}

    return read


def of_jobs(name: str) -> Callable[[Sources], Iterable[Observed]]:
    """A number of the dispatcher of background jobs; nothing without one."""
    return one(JobDispatcher, f"figures.{name}")


def _reading(sources: Sources, group: str) -> GroupReading | None:
    """The latest reading of a group of the database's figures; None where they are not read."""
    return next((figures.latest().get(group) for figures in sources.of(DatabaseFigures)), None)


def column(group: str, index: int, **labels: int) -> Callable[[Sources], Iterable[Observed]]:
    """A column of a group of the database's figures, with other columns as labels; nothing where they are not read."""

    def read(sources: Sources) -> Iterator[Observed]:
        reading = _reading(sources, group)
        for row in () if reading is None else reading.rows:
            yield float(row[index]), {name: str(row[place]) for name, place in labels.items()}

    return read


def _commands(sources: Sources) -> Iterator[Observed]:
    sums = sum((consumer.stats.outcomes for consumer in sources.of(Consumer)), Counter[tuple[str, str]]())
    for (intent, outcome), count in sums.items():
        yield count, {"intent": intent, "outcome": outcome}


def _ended(sources: Sources) -> Iterator[Observed]:
    sums = sum((consumer.stats.ended for consumer in sources.of(Consumer)), Counter[str]())
    for state, count in sums.items():
        yield count, {"state": state}


def _long_polls(sources: Sources) -> Iterator[Observed]:
    for long_polls in sources.of(LongPolls):
        yield len(long_polls), {}


def _leads(sources: Sources) -> Iterator[Observed]:
    for consumer in sources.of(Consumer):
        yield float(consumer.partition_duty.progress() is not None), _partition(consumer)


def _restarts(sources: Sources) -> Iterator[Observed]:
    """Each reason from 0 on: Prometheus sees no growth in a series that begins with its first restarts."""
    for supervisor in sources.of(Supervisor):
        for child, reasons in supervisor.restarts().items():
            for reason in REASONS:
                yield reasons.get(reason, 0), {"child": child, "reason": reason}


def _orphaned(sources: Sources) -> Iterator[Observed]:
    reading = _reading(sources, "executions")
    for type_, state, _count, orphaned in () if reading is None else reading.rows:
        if state == "pending":
            yield float(orphaned), {"type": type_}


def _healthy(sources: Sources) -> Iterator[Observed]:
    for supervisor in sources.of(Supervisor):
        for child in supervisor.health():
            yield float(child.healthy), {"child": child.name}


def _activated(sources: Sources) -> Iterator[Observed]:
    for requests in sources.of(RequestFigures):
        for type_, count in requests.jobs.of("activated"):
            yield count, {"type": type_}


def of_events(event: str) -> Callable[[Sources], Iterable[Observed]]:
    """Events of jobs, by type."""

    def read(sources: Sources) -> Iterator[Observed]:
        for counts in sources.of(CountsByType):
            for type_, count in counts.of(event):
                yield count, {"type": type_}

    return read


def of_incidents(event: str) -> Callable[[Sources], Iterable[Observed]]:
    """Events of incidents, by type."""

    def read(sources: Sources) -> Iterator[Observed]:
        sums = sum((consumer.stats.incidents for consumer in sources.of(Consumer)), Counter[tuple[str, str]]())
        for (each, type_), count in sums.items():
            if each == event:
                yield count, {"type": type_}

    return read


def of_agents(name: str, *labels: str, unit: int = 1) -> Callable[[Sources], Iterable[Observed]]:
    """Sums of the calls of models, in `unit`s."""

    def read(sources: Sources) -> Iterator[Observed]:
        sums = sum((getattr(figures, name) for figures in sources.of(AgentFigures)), Counter[tuple[str, str]]())
        for values, number in sums.items():
            yield number / unit, dict(zip(labels, values, strict=True))

    return read


def _cached_instances(sources: Sources) -> Iterator[Observed]:
    for consumer in sources.of(Consumer):
        yield consumer.partition_duty.cached().instances, _partition(consumer)


def _cached_bytes(sources: Sources) -> Iterator[Observed]:
    for consumer in sources.of(Consumer):
        yield consumer.partition_duty.cached().bytes, _partition(consumer)


def _lag_s(sources: Sources) -> Iterator[Observed]:
    """The age of the first command that waits. If it cannot be read any more, it grows with the time."""
    reading = _reading(sources, "partitions")
    for partition, _led, _behind, seconds in () if reading is None else reading.rows:
        overdue = 0.0 if reading is None or not seconds else max(0.0, monotonic() - reading.at - OVERDUE_S)
        yield seconds + overdue, {"partition": str(partition)}


def _jobs(sources: Sources) -> Iterator[Observed]:
    for (type_, state), (count, _age) in _folded(_reading(sources, "jobs")).items():
        yield count, {"type": type_, "state": state}


def _oldest_ready(sources: Sources) -> Iterator[Observed]:
    for (type_, state), (_count, age) in _folded(_reading(sources, "jobs")).items():
        if state == "ready":
            yield age, {"type": type_}


def _folded(reading: GroupReading | None) -> dict[tuple[str, str], tuple[int, float]]:
    """Numbers of jobs and the age of the oldest, by type and state. The rows have the most frequent types first."""
    types: dict[str, None] = {}
    found: dict[tuple[str, str], tuple[int, float]] = {}
    for type_, state, count, age in () if reading is None else reading.rows:
        if len(types) < MAX_TYPES:
            types[type_] = None
        key = (type_ if type_ in types else OTHER), state
        before = found.get(key, (0, 0.0))
        found[key] = before[0] + count, max(before[1], age)
    return found


def _figures_age(sources: Sources) -> Iterator[Observed]:
    for figures in sources.of(DatabaseFigures):
        for group, reading in figures.latest().items():
            yield monotonic() - reading.at, {"group": group}


def _figures_failures(sources: Sources) -> Iterator[Observed]:
    for figures in sources.of(DatabaseFigures):
        for group, count in figures.failures.items():
            yield count, {"group": group}


def _overdue(sources: Sources) -> Iterator[Observed]:
    reading = _reading(sources, "timers")
    for _pending, due_in_s in () if reading is None else reading.rows:
        yield max(0.0, -(due_in_s or 0.0)), {}


def _next_due(sources: Sources) -> Iterator[Observed]:
    """Nothing without a pending timer."""
    reading = _reading(sources, "timers")
    for _pending, due_in_s in () if reading is None else reading.rows:
        if due_in_s is not None:
            yield max(0.0, due_in_s), {}


INSTRUMENTS: Sequence[Instrument] = (
    # what this node's engine has done
    counter("commands", "{command}", "Processed commands, after their commit.", _commands),
    counter("instances.ended", "{instance}", "Ended process instances, without called ones.", _ended),
    counter("engine.batches", "{batch}", "Committed batches of commands.", of_consumers("batches")),
    counter("engine.quanta", "{quantum}", "Quanta of deferred work between commands.", of_consumers("quanta")),
    counter("engine.statements", "{statement}", "SQL statements of batches.", of_consumers("statements")),
    counter("engine.terms", "{term}", "Leadership terms that began here.", of_consumers("terms")),
    counter("engine.poisoned", "{batch}", "Batches that PostgreSQL rejected.", of_consumers("poisoned")),
    counter("engine.not_loaded", "{batch}", "Batches cut short to load more.", of_consumers("not_loaded")),
    gauge("engine.cache.instances", "{instance}", "Instances in memory, with all that they call.", _cached_instances),
    gauge("engine.cache.size", "By", "Bytes of the state in memory, estimated.", _cached_bytes),
    counter("engine.cache.hits", "{look-up}", "Needed rows of instances found in memory.", of_consumers("found")),
    counter(
        "engine.cache.misses", "{look-up}", "Those that the database was asked for instead.", of_consumers("looked_up")
    ),
    counter(
        "engine.cache.evicted", "{aggregate}", "Instances, parts and message channels evicted.", of_consumers("evicted")
    ),
    gauge("engine.leads", "1", "1 if this node leads the partition, otherwise 0.", _leads),
    # the log
    counter("appends", "{command}", "Commands appended to the log.", one(Appender, "stats.commands")),
    counter("append.calls", "{call}", "Calls that append commands.", one(Appender, "stats.calls")),
    counter(
        "append.repeated", "{call}", "Appends repeated as their outcome was unknown.",
        one(Appender, "stats.repeated"),
    ),
    counter(
        "append.refused", "{command}", "Commands refused as a limit was reached.",
        one(Appender, "stats.overloaded"),
    ),
    counter(
        "append.replays", "{command}", "Commands whose idempotency key was known.",
        one(Appender, "stats.replays"),
    ),
    # clients
    gauge("http.connections", "{connection}", "Open HTTP connections.", one(HttpFigures, "connections")),
    counter("http.accepted", "{connection}", "Accepted HTTP connections.", one(HttpFigures, "accepted")),
    gauge("waiters", "{request}", "Requests that wait for outcomes.", one(Completions, "waiting")),
    gauge("long_polls", "{request}", "Requests that wait for jobs.", _long_polls),
    gauge("streams", "{stream}", "Streams of hints to consoles.", one(Hub, "streams")),
    counter("jobs.created", "{job}", "Jobs created.", of_events("created")),
    counter("jobs.activated", "{job}", "Jobs given to workers.", _activated),
    counter("jobs.completed", "{job}", "Jobs that workers completed.", of_events("completed")),
    counter("jobs.failed", "{job}", "Failures of jobs; a job may fail several times.", of_events("failed")),
    counter("jobs.errors", "{job}", "BPMN errors that workers threw.", of_events("error")),
    counter("jobs.canceled", "{job}", "Jobs that ended with their elements.", of_events("canceled")),
    counter("agents.calls", "{call}", "Calls of models by agents.", of_agents("calls", "model", "outcome")),
    counter("agents.tokens", "{token}", "Tokens of these calls.", of_agents("tokens", "model", "kind")),
    counter(
        "agents.cost", "{unit}", "Cost of these calls.", of_agents("cost", "model", "currency", unit=MILLIONTHS)
    ),
    counter("incidents.raised", "{incident}", "Incidents raised.", of_incidents("raised")),
    counter(
        "incidents.resolved", "{incident}", "Incidents resolved, or gone with their elements.", of_incidents("resolved")
    ),
    counter(
        "inbound.events", "{event}", "Events that receivers of inbound connectors took.",
        one(ReceiverFigures, "events"),
    ),
    counter("inbound.errors", "{error}", "Errors of receivers; they go on.", one(ReceiverFigures, "errors")),
    # caches and pools
    counter("definitions.hits", "{look-up}", "Models that the engine found in the cache.", of_cache("hits")),
    counter("definitions.misses", "{look-up}", "Models that the engine did not find in the cache.", of_cache("misses")),
    counter("definitions.evictions", "{file}", "Files evicted from the cache.", of_cache("evictions")),
    gauge("definitions.files", "{file}", "Files in the cache.", of_cache("size")),
    gauge("definitions.size", "By", "Memory of the models in the cache, as an estimate.", of_cache("bytes")),
    gauge("compute.processes", "{process}", "Compute processes.", of_compute("processes")),
    gauge("compute.waiting", "{task}", "Tasks that wait for a compute process.", of_compute("waiting")),
    counter("compute.done", "{task}", "Tasks that compute processes have done.", of_compute("done")),
    counter("compute.refused", "{task}", "Tasks that found too many others waiting.", of_compute("refused")),
    counter("compute.too_costly", "{task}", "Tasks that took more than one task may.", of_compute("too_costly")),
    gauge("pool.connections", "{connection}", "Connections of a pool in use.", of_pools("in_use")),
    gauge("pool.size", "{connection}", "The most connections of a pool.", of_pools("size")),
    gauge("pool.waiting", "{request}", "Requests that wait for a connection.", of_pools("waiting")),
    counter("pool.exhausted", "{request}", "Requests that got no connection in time.", of_pools("exhausted")),
    counter("pool.opened", "{connection}", "Connections opened by a pool.", of_pools("opened")),
    # timers and background jobs of this node
    counter("timers.fired", "{timer}", "Triggers of timers that were appended.", of_timers("fired")),
    counter("timers.again", "{timer}", "Timers still pending after their trigger.", of_timers("again")),
    counter("background.started", "{execution}", "Executions of background jobs begun.", of_jobs("started")),
    counter("background.completed", "{execution}", "Executions that completed.", of_jobs("completed")),
    counter("background.retried", "{execution}", "Executions to be tried again.", of_jobs("retried")),
    counter("background.failed", "{execution}", "Executions that failed for good.", of_jobs("failed")),
    counter("background.lost", "{execution}", "Executions whose lease was lost.", of_jobs("lost")),
    # traces
    counter("trace.spans.exported", "{span}", "Spans that the collector has taken.", one(SpanCounts, "exported")),
    counter("trace.spans.dropped", "{span}", "Spans lost to a full queue or a collector.", one(SpanCounts, "dropped")),
    # the program itself
    counter("child.restarts", "{restart}", "Ends of tasks that were restarted, by reason.", _restarts),
    gauge("child.healthy", "1", "1 if the task makes progress, otherwise 0.", _healthy),
    counter("loop.long_turns", "{turn}", "Turns of the event loop above 50 ms.", one(LoopProbe, "long")),
    gauge("loop.longest_turn", "s", "The longest turn of the event loop.", one(LoopProbe, "longest.seconds")),
    counter(
        "loop.withheld", "s", "Time in which the machine let the loop not run.", one(LoopProbe, "given.withheld_s")
    ),
    # the whole database, read by one node
    gauge("log.lag", "{command}", "Commands that wait, at most 100,000.", column("partitions", 2, partition=0)),
    gauge("log.lag.time", "s", "The age of the first command that waits in the log.", _lag_s),
    gauge("partition.led", "1", "1 if some node leads it, otherwise 0.", column("partitions", 1, partition=0)),
    gauge("jobs", "{job}", "Jobs of running instances.", _jobs),
    gauge("jobs.oldest_ready", "s", "The age of the oldest job that waits for a worker.", _oldest_ready),
    gauge("incidents", "{incident}", "Open incidents.", column("incidents", 1, type=0)),
    gauge("timers.pending", "{timer}", "Pending timers.", column("timers", 0)),
    gauge("timers.overdue", "s", "How late the next timer is.", _overdue),
    gauge("timers.next_due", "s", "The time until the next timer is due; 0 if it is overdue.", _next_due),
    gauge("instances.running", "{instance}", "Running instances.", column("instances", 0)),
    gauge("messages.buffered", "{message}", "Buffered messages.", column("waiting", 0)),
    gauge("user_tasks", "{task}", "Open user tasks.", column("waiting", 1)),
    gauge("documents.contents", "{content}", "Contents of documents.", column("documents", 1, store=0)),
    gauge("documents.size", "By", "Their bytes.", column("documents", 2, store=0)),
    gauge("documents.unused", "By", "Bytes that arrive, or wait for deletion.", column("documents", 3, store=0)),
    gauge("retention.behind", "s", "How far retention is behind the clock.", column("retention", 1, partition=0)),
    counter("retention.deleted", "{instance}", "Deleted instances by age.", column("retention", 2, partition=0)),
    gauge("retention.idle", "s", "The time since retention ran.", column("retention", 3, partition=0)),
    gauge("retention.overdue", "s", "How long an instance stays beyond its time.", column("retention", 4, partition=0)),
    gauge("archive.away", "s", "How long the archive has been away.", column("retention", 5, partition=0)),
    gauge("retention.logs.kept", "{log}", "Something keeps old logs.", column("retention", 6, partition=0, because=7)),
    gauge("background.executions", "{execution}", "Executions of jobs.", column("executions", 2, type=0, state=1)),
    gauge("background.orphaned", "{execution}", "Waiting executions that no node runs.", _orphaned),
    gauge("postgres.table.size", "By", "Bytes of a table, without its indexes.", column("tables", 1, table=0)),
    gauge("postgres.index.size", "By", "Bytes of a table's indexes.", column("tables", 2, table=0)),
    gauge("postgres.rows.live", "{row}", "Live rows, as PostgreSQL estimates them.", column("tables", 3, table=0)),
    gauge("postgres.rows.dead", "{row}", "Dead rows, likewise.", column("tables", 4, table=0)),
    gauge("postgres.database.size", "By", "Bytes of the database.", column("server", 0)),
    gauge("postgres.connections.max", "{connection}", "The most connections of the server.", column("server", 1)),
    counter("postgres.wal", "By", "Bytes of WAL that the server has written.", column("server", 2)),
    gauge("postgres.oldest_transaction", "s", "The age of the oldest transaction.", column("server", 3)),
    gauge("postgres.connections", "{connection}", "Connections by state.", column("connections", 1, state=0)),
    gauge("postgres.replication.lag", "By", "WAL that a standby has yet to get.", column("replication", 1, standby=0)),
    gauge("figures.age", "s", "The time since figures of the database were read.", _figures_age),
    counter("figures.failures", "{reading}", "Readings of the database that failed.", _figures_failures),
)  # fmt: skip
