"""Judges the facts about a server: what is wrong or may become so, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vivero.config import budget
from vivero.config.sections import Config
from vivero.operations.doctor_settings import privacy, session, speed
from vivero.operations.findings import MEGABYTE, Finding, Level
from vivero.storage.reads.diagnosis import Facts
from vivero.storage.retention.history import State
from vivero.storage.schema.installations import schemas_have
from vivero.storage.schema.migration_files import SCHEMA_VERSION

CONNECTIONS_OF_A_NODE = budget.connections(Config())
CLOCK_OFF_S = 2.0
OLD_TRANSACTION_S = 600.0
WRAPAROUND = 2_000_000_000
STANDS_S = 3 * 3600.0
"""Retention that has not run for so long stands still: it runs each minute."""
DAY_S = 86_400.0
OVERDUE_S = DAY_S


def judge(facts: Facts) -> list[Finding]:
    """All findings, one or more for each subject."""
    groups = (
        _server,
        _schema,
        _durability,
        _vacuum,
        _transactions,
        _connections,
        _indexes,
        _replication,
        _clocks,
        _retention,
        session,
        speed,
        privacy,
    )
    findings: list[Finding] = []
    for group in groups:
        found = list(group(facts))
        subject = group.__name__.strip("_")
        findings += found if found else [Finding(Level.OK, subject, OKAY[subject])]
    return findings


OKAY = {
    "schema": "up to date",
    "durability": "answered commands survive a crash",
    "vacuum": "no table has many dead rows",
    "transactions": "none is old",
    "connections": "enough are free",
    "indexes": "all are valid",
    "replication": "no slot or standby is behind",
    "clocks": "agree",
    "retention": "nothing stays longer than it should",
    "session": "nodes begin their sessions with the settings that the server has",
    "speed": "no setting slows the server down",
    "privacy": "the server's log has no variables",
}


def worst(findings: Sequence[Finding]) -> Level:
    """The highest level among the findings."""
    order = list(Level)
    return max((one.level for one in findings), key=order.index, default=Level.OK)


def _server(facts: Facts) -> Iterator[Finding]:
    text = f"PostgreSQL {facts.version}, {facts.size / MEGABYTE:,.0f} MB"
    yield Finding(Level.OK, "server", text)


def _schema(facts: Facts) -> Iterator[Finding]:
    if facts.schema is None and facts.place is not None and facts.place.installed:
        here = facts.place.schema or "no schema"
        text = f"{schemas_have(facts.place.installed)} an installation, and the search_path leads to {here}"
        yield Finding(Level.PROBLEM, "schema", text, "Set search_path: docs/postgresql.md#schemas")
    elif facts.schema is None:
        yield Finding(Level.WARNING, "schema", "the database has no tables yet", "Run: vivero migrate")
    elif facts.schema < SCHEMA_VERSION:
        text = f"it has version {facts.schema}, this program needs {SCHEMA_VERSION}"
        yield Finding(Level.WARNING, "schema", text, "Run: vivero migrate; vivero up does it, too")
    elif facts.schema > SCHEMA_VERSION:
        text = f"it has version {facts.schema}, this program knows {SCHEMA_VERSION}"
        yield Finding(Level.PROBLEM, "schema", text, "Use the newer program that migrated the database")


def _durability(facts: Facts) -> Iterator[Finding]:
    advice = "Turn it on: a crash could lose or damage what was answered"
    for name in ("fsync", "full_page_writes"):
        if facts.settings.get(name) == "off":
            yield Finding(Level.PROBLEM, "durability", f"{name} is off", advice)
    for name in ("zero_damaged_pages", "ignore_checksum_failure"):
        if facts.settings.get(name) == "on":
            text = f"{name} is on: damage on disk is hidden, and rows vanish"
            yield Finding(Level.PROBLEM, "durability", text, "Turn it off, and restore a backup")
    commit = facts.settings.get("synchronous_commit")
    if commit in ("off", "local"):
        yield Finding(Level.PROBLEM, "durability", f"synchronous_commit is {commit}", advice)
    if facts.settings.get("data_checksums") == "off":
        advice = "pg_checksums --enable on the stopped server: damage on disk is noticed then"
        yield Finding(Level.WARNING, "durability", "data checksums are off", advice)


def _vacuum(facts: Facts) -> Iterator[Finding]:
    if facts.settings.get("track_counts") == "off":
        advice = "Turn it on: autovacuum learns from these counts which tables have dead rows"
        yield Finding(Level.PROBLEM, "vacuum", "track_counts is off, so autovacuum does nothing", advice)
    if facts.settings.get("autovacuum") == "off":
        yield Finding(
            Level.PROBLEM, "vacuum", "autovacuum is off", "Turn it on: tables grow without limit, and slow down"
        )
    if facts.transaction_age > WRAPAROUND // 4:
        level = Level.PROBLEM if facts.transaction_age > WRAPAROUND // 2 else Level.WARNING
        text = f"the oldest transaction id is {facts.transaction_age:,} old; at {WRAPAROUND:,} the server stops"
        yield Finding(level, "vacuum", text, "Run VACUUM FREEZE, and find what holds vacuum back")
    for one in facts.dead_rows:
        ago = "never" if one.vacuumed_s < 0 else f"{one.vacuumed_s / 60:.0f} minutes ago"
        text = f"{one.table}: {one.dead:,} dead rows beside {one.live:,} live ones, vacuumed {ago}"
        advice = "Look for an old transaction or an unused slot below; otherwise raise autovacuum_max_workers"
        yield Finding(Level.WARNING, "vacuum", text, advice)


def _transactions(facts: Facts) -> Iterator[Finding]:
    if not facts.sees_others:
        text = "this user sees neither those of other users nor how far standbys are, so alerts on them are silent"
        yield Finding(Level.WARNING, "transactions", text, "As a superuser: GRANT pg_monitor TO its role")
    if facts.oldest_transaction_s > OLD_TRANSACTION_S:
        text = f"one has been open for {facts.oldest_transaction_s / 60:.0f} minutes: dead rows stay meanwhile"
        yield Finding(Level.WARNING, "transactions", text, "pg_stat_activity names it (xact_start)")
    if facts.idle_in_transaction:
        text = f"{facts.idle_in_transaction} sessions sit idle inside a transaction"
        advice = "End them, and set idle_in_transaction_session_timeout for their users"
        yield Finding(Level.WARNING, "transactions", text, advice)
    if facts.prepared:
        text = f"prepared ones are forgotten: {', '.join(facts.prepared[:5])}"
        yield Finding(Level.PROBLEM, "transactions", text, "ROLLBACK PREPARED, or COMMIT PREPARED: Vivero makes none")


def _connections(facts: Facts) -> Iterator[Finding]:
    most = int(facts.settings["max_connections"])
    needed = CONNECTIONS_OF_A_NODE * max(1, facts.nodes)
    if facts.connections > 0.9 * most:
        text = f"{facts.connections} of {most} are in use"
        yield Finding(Level.PROBLEM, "connections", text, "Raise max_connections, or let other programs use a pooler")
        return
    for limit in facts.limits:
        if needed > limit.sessions - limit.of_others:
            text = f"{max(1, facts.nodes)} nodes may need {needed}: {limit}"
            yield Finding(Level.WARNING, "connections", text, "Raise this limit, or lower database.pool_size")


def _indexes(facts: Facts) -> Iterator[Finding]:
    for name in facts.invalid_indexes:
        yield Finding(Level.PROBLEM, "indexes", f"{name} is not valid", f"Run: REINDEX INDEX CONCURRENTLY {name}")


def _replication(facts: Facts) -> Iterator[Finding]:
    for slot in facts.slots:
        if not slot.active:
            text = f"nobody reads the slot {slot.name}, which keeps {slot.kept / MEGABYTE:,.0f} MB of WAL"
            advice = f"Connect its reader, or: SELECT pg_drop_replication_slot('{slot.name}')"
            yield Finding(Level.WARNING, "replication", text, advice)
    if facts.settings.get("synchronous_standby_names") and not any(
        one.sync in ("sync", "quorum") for one in facts.standbys
    ):
        text = "synchronous_standby_names is set, and no synchronous standby is connected"
        yield Finding(
            Level.PROBLEM, "replication", text, "Commits wait until one is there: start it, or clear the setting"
        )
    for one in facts.standbys:
        if one.behind is not None and one.behind > 100 * MEGABYTE:
            text = f"{one.name} is {one.behind / MEGABYTE:,.0f} MB behind"
            yield Finding(Level.WARNING, "replication", text, "A failover to it would lose what it lacks")


def _clocks(facts: Facts) -> Iterator[Finding]:
    if abs(facts.clock_off_s) > CLOCK_OFF_S:
        text = f"the server's differs from this machine's by {facts.clock_off_s:+.1f} s"
        yield Finding(Level.WARNING, "clocks", text, "Run NTP on both. Timers follow the server's clock")
    if abs(facts.engine_clock_s) > 1:
        text = f"the engine's clock was set: it differs from the server's by {facts.engine_clock_s:+,.0f} s"
        yield Finding(Level.WARNING, "clocks", text, "Timers follow the engine's clock. DELETE /v2/clock resets it")


def _retention(facts: Facts) -> Iterator[Finding]:
    for one in facts.retention:
        where = f"partition {one.partition}:"
        if one.ran_s is not None and one.ran_s > STANDS_S:
            text = f"{where} it ran {one.ran_s / 3600:,.0f} hours ago"
            yield Finding(Level.WARNING, "retention", text, "Look for vivero.ended-instances: vivero background list")
        if one.problem is not None:
            text = f"{where} nothing is deleted for {(one.problem_s or 0) / 60:,.0f} minutes: {one.problem}"
            yield Finding(Level.PROBLEM, "retention", text, "Make the archive reachable; retention goes on by itself")
        if one.kept_key is not None and (one.overdue_s or 0) > OVERDUE_S:
            days = (one.overdue_s or 0) / DAY_S
            text = f"{where} instance {one.kept_key} stays {days:,.0f} days too long: {one.kept_by}"
            advice = "vivero show names what waits; vivero outbox has dead letters; vivero batches has open operations"
            yield Finding(Level.WARNING, "retention", text, advice)
        if one.behind_s > OVERDUE_S:
            text = f"{where} it is {one.behind_s / DAY_S:,.0f} days behind the engine's clock"
            yield Finding(Level.WARNING, "retention", text, "It follows a clock that jumped: see retention.catch_up")
        if one.logs_kept_by is not None and one.logs_kept_name is not None:
            yield _kept_logs(where, one)


def _kept_logs(where: str, one: State) -> Finding:
    """A finding about old logs: what keeps them, since when, how much there is of them, and what to do."""
    name, days = one.logs_kept_name, (one.logs_kept_s or 0) / DAY_S
    if one.logs_kept_by == "consumer":
        why = f"the consumer {name} has read nothing for {days:,.1f} days"
        advice = f"Start its program; if it is gone for good: vivero background drop {name}"
    else:
        why = f"the instance {name} has run for {days:,.1f} days"
        advice = f"vivero show {name} says what it waits for. Finish it, or: vivero cancel {name}"
    much = f"{one.logs_commands or 0:,} commands and {(one.logs_bytes or 0) / MEGABYTE:,.0f} MB"
    text = f"{where} old logs stay, because {why}: {much} since {(one.logs_oldest_s or 0) / DAY_S:,.1f} days ago"
    return Finding(Level.WARNING, "retention", text, advice)
