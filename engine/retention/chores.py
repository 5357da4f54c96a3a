"""The program's own chores: scheduled jobs that keep the tables small (docs/adr/0051).

None goes through the log, because the core reads nothing that they delete. Each statement is short and bounded, and
commits by itself. Chores of a partition run at its owner, and their statements compare its term. To do a chore late or
twice does no harm.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import structlog
import trio

from vivero.core.bpmn.elements.retention_limits import LONGEST_MS
from vivero.engine.jobs import schedules
from vivero.engine.jobs.chores import Work, chore
from vivero.engine.jobs.definitions import CHORES, JobDefinition, JobRegistry, Runs
from vivero.engine.jobs.execution import Connections, Execution
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.jobs.type_settings import JobTypeSettings
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.retention.archive.opening import open_store
from vivero.engine.retention.chore_settings import ExpirySettings, MaintenanceSettings, RetentionSettings
from vivero.engine.retention.history import EndedInstances
from vivero.storage.access import audit_log
from vivero.storage.background import job_executions, usual_durations
from vivero.storage.cluster import maintenance
from vivero.storage.log import command_log as command_log
from vivero.storage.log import transaction_inbox
from vivero.storage.postgres.driver import Connection
from vivero.storage.retention import decision_instances, history, unused_files, usage
from vivero.storage.state import message_channels, variable_values
from vivero.storage.work import timers

log = structlog.get_logger(__name__)

DAY_MS = 24 * 3600 * 1000
QUARTERS_MS = 62 * DAY_MS
"""Usage metrics know the quarters of an hour of deleted assignees for two months, and then their days."""
KEYS_MARGIN_MS = 3_600_000
"""Idempotency keys stay for another hour, so that none disappears while an append reads it."""
FILES_EVERY_S = 3600.0
"""The interval of the walk over all deployed files."""
FILES_UNUSED_S = 24 * 3600.0
"""The time that an unused file stays, for requests and batches that still read it."""
RUNS_AT_ONCE = 16
STILL_S = 60.0
"""Chores that follow the progress of a partition look at least this often."""
VALUES_PAUSE_S = 0.05
"""The pause between two steps that hash the values of old variables."""

USUAL_EVERY_S = 600.0
"""The interval in which the usual durations of process versions are computed."""

Purge = Callable[[Connection, int, int], Awaitable[int]]
"""(connection, age in ms, limit): deletes up to `limit` rows that ended longer ago; their number."""

ENDED: Mapping[str, Purge] = {
    "ended-subscriptions": message_channels.purge_subscriptions,
    "message-correlations": message_channels.purge_correlations,
    "ended-timers": timers.purge,
    "decision-instances": decision_instances.purge,
}
"""The chores that delete what ended long ago, by the engine's clock."""


@dataclass(frozen=True, slots=True)
class ChoreSettings:
    """The settings of all chores."""

    expiry: ExpirySettings = field(default_factory=ExpirySettings)
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)


def dispatcher_settings(types: Mapping[str, JobTypeSettings]) -> JobSettings:
    """The settings of the dispatcher of chores. A chore never gives up. At a stop, its runs are handed back at once."""
    return JobSettings(
        min_concurrent=RUNS_AT_ONCE,
        max_concurrent=RUNS_AT_ONCE,
        stale_threshold="PT10S",
        drain="PT0S",
        max_attempts=0,
        initial_interval="PT1S",
        max_interval="PT1M",
        types={name: each for name, each in types.items() if name.startswith(CHORES)},
    )


def of_partitions(
    settings: ChoreSettings, connections: Connections, positions: Mapping[int, int] = MappingProxyType({})
) -> JobRegistry:
    """The chores that belong to a partition. `connections()` lends a connection for a statement.

    `positions`: how far partitions are processed, as far as this process knows.
    """
    return JobRegistry.of(_of_partitions(settings, connections, positions))


def of_database(settings: ChoreSettings, connections: Connections) -> JobRegistry:
    """The chores that any node can do."""
    return JobRegistry.of(_of_database(settings.retention, connections))


def _of_partitions(
    settings: ChoreSettings, connections: Connections, positions: Mapping[int, int]
) -> Iterator[JobDefinition]:
    every_s, limit = settings.maintenance.every_s, settings.expiry.messages
    trimmed_until: dict[int, int] = {}

    async def expire(connection: Connection, execution: Execution) -> bool:
        return await message_channels.expire(connection, _partition(execution), execution.epoch, limit) == limit

    async def make_log_partitions(connection: Connection, execution: Execution) -> bool:
        made = await maintenance.make_log_partitions(connection, _partition(execution), execution.epoch)
        if made:
            log.info("created log partitions", partition=execution.partition, count=made)
        return False

    async def add_up(connection: Connection, execution: Execution) -> bool:
        most = settings.maintenance.changes
        partition = _partition(execution)
        return await maintenance.total_element_counts(connection, partition, execution.epoch, most) == most

    async def trim(connection: Connection, execution: Execution) -> bool:
        partition = _partition(execution)
        until = await maintenance.trim_cursor(connection, partition, execution.epoch, trimmed_until.get(partition))
        trimmed_until[partition] = until
        return False

    async def hash_values(connection: Connection, execution: Execution) -> bool:
        return await variable_values.hash_next(connection, _partition(execution), execution.epoch)

    def progress(execution: Execution) -> object:
        """Only commands fill the logs and the cursor. Another process may handle them: a look a minute is sure."""
        position = positions.get(_partition(execution))
        minute = trio.current_time() // STILL_S
        return None if position is None else (execution.epoch, position, minute)

    def term(execution: Execution) -> object:
        """Old variables appear with the migration alone, and what an older node changes belongs to an earlier term."""
        return execution.epoch

    yield chore("expired-messages", settings.expiry.every_s, connections, expire, settings.expiry.pause_s, True)
    yield chore("log-partitions", every_s, connections, make_log_partitions, by_partition=True, state=progress)
    yield chore("element-counts", every_s, connections, add_up, by_partition=True)
    yield chore("log-cursor", every_s, connections, trim, by_partition=True, state=progress)
    yield chore("variable-values", every_s, connections, hash_values, VALUES_PAUSE_S, by_partition=True, state=term)
    store = open_store(settings.retention)
    archive = None if store is None else Archive(store, connections)
    before, delete_orphans = (None, None) if archive is None else (archive.before_deletion, archive.delete_orphans)
    ended = EndedInstances(settings.retention, connections, before, delete_orphans=delete_orphans)
    schedule = schedules.every(f"PT{settings.retention.every_s:g}S")
    yield JobDefinition(f"{CHORES}ended-instances", ended, Runs.TRIO, schedule=schedule, by_partition=True)


async def _compute_usual(connection: Connection, _execution: Execution) -> bool:
    await usual_durations.compute(connection)
    return False


def _of_database(settings: RetentionSettings, connections: Connections) -> Iterator[JobDefinition]:
    ended_ms, audit_ms = _ms(settings.ended_days), _ms(settings.audit_days)
    for name, purge in ENDED.items():
        work = purging(purge, ended_ms, settings.rows)
        yield chore(name, settings.every_s, connections, work, settings.pause_s)
    keys = purging(command_log.purge_keys, KEYS_MARGIN_MS, settings.rows)
    yield chore("idempotency-keys", settings.every_s, connections, keys, settings.pause_s)
    outcomes = purging(transaction_inbox.purge, DAY_MS, settings.rows)
    yield chore("transaction-outcomes", settings.every_s, connections, outcomes, settings.pause_s)
    records = purging(audit_log.purge, audit_ms, settings.rows)
    yield chore("audit-log", settings.every_s, connections, records, settings.pause_s)
    failed = purging(job_executions.purge, _ms(settings.failed_jobs_days), settings.rows)
    yield chore("failed-executions", settings.every_s, connections, failed, settings.pause_s)
    quarters = purging(usage.compact, QUARTERS_MS, settings.rows)
    yield chore("usage-days", settings.every_s, connections, quarters, settings.pause_s)
    numbers = purging(usage.purge, _ms(settings.usage_days), settings.rows)
    yield chore("usage-metrics", settings.every_s, connections, numbers, settings.pause_s)
    yield chore("usual-durations", USUAL_EVERY_S, connections, _compute_usual)
    yield chore("deployed-files", FILES_EVERY_S, connections, deleting_files(settings.rows), settings.pause_s)


def deleting_files(rows: int, unused_s: float = FILES_UNUSED_S) -> Work:
    """Marks the deployed files that nothing refers to any more, then deletes those that were marked long ago."""
    after: str | None = ""

    async def work(connection: Connection, _execution: Execution) -> bool:
        nonlocal after
        if after is not None:
            after = await unused_files.mark(connection, after, rows)
            return True
        if await unused_files.delete(connection, unused_s, rows) == rows:
            return True
        after = ""
        return False

    return work


def purging(purge: Purge, age_ms: int | None, rows: int) -> Work:
    """Deletes what is older, by the slowest clock of retention: a clock that jumps deletes little at once."""

    async def work(connection: Connection, _execution: Execution) -> bool:
        if age_ms is None:
            return False
        behind_ms = await history.behind_ms(connection)
        return await purge(connection, age_ms + behind_ms, rows) == rows

    return work


def _partition(execution: Execution) -> int:
    if execution.partition is None:
        raise ValueError(f"the chore '{execution.type}' belongs to a partition")
    return execution.partition


def _ms(days: float) -> int | None:
    """The age in milliseconds; None for ever."""
    return int(min(days * DAY_MS, LONGEST_MS)) if days else None
