"""Judges the settings of a server: which have no effect, slow it down, or write personal data into its log."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.operations.findings import MEGABYTE, Finding, Level
from vivero.storage.postgres.session_settings import RELIED_ON
from vivero.storage.reads.diagnosis import Facts

TIMEOUTS = ("statement_timeout", "transaction_timeout", "idle_session_timeout")
NEVER_FEWER_BUFFERS = 16_384
"""128 MB in pages of 8 kB: PostgreSQL's default, made for small machines."""
UNITS = {"B": 1, "kB": 1024, "8kB": 8192, "MB": 1024**2, "GB": 1024**3}
LEAST_BYTES = {"work_mem": 4 << 20, "maintenance_work_mem": 64 << 20}
"""PostgreSQL's defaults, which are made for small machines."""
LARGE_WORK_MEM = 256 << 20
SLOW_DISK = 2.0
"""`random_page_cost` of an SSD is about 1.1; PostgreSQL's default of 4 is that of rotating disks."""


def session(facts: Facts) -> Iterator[Finding]:
    """Settings that somebody has made and that nodes do not have, as their sessions make their own."""
    found = {
        name: value for name, value in facts.of_role.items() if RELIED_ON.get(name, value).lower() != value.lower()
    }
    for name in TIMEOUTS:
        if (value := facts.settings.get(name, "0").split()[0]) != "0":
            found.setdefault(name, f"{value} ms")
    for name in ("default_transaction_isolation", "array_nulls"):
        if (value := facts.settings.get(name, RELIED_ON[name])) != RELIED_ON[name]:
            found.setdefault(name, value)
    for name, value in sorted(found.items()):
        text = f"{name} is {value} for sessions of this user; those of nodes have {RELIED_ON[name]}"
        advice = f"It has no effect on Vivero. If that was not meant: ALTER ROLE … RESET {name}, or in its database"
        yield Finding(Level.WARNING, "session", text, advice)


def speed(facts: Facts) -> Iterator[Finding]:
    """Settings that slow the server down, or that may use up its memory."""
    settings = facts.settings
    buffers = int(settings["shared_buffers"].split()[0])
    if buffers < NEVER_FEWER_BUFFERS:
        text = f"shared_buffers is {buffers * 8192 / MEGABYTE:.0f} MB"
        yield Finding(Level.WARNING, "speed", text, "A quarter of the machine's memory is usual")
    wal_mb = int(settings["max_wal_size"].split()[0])
    if wal_mb < 1024:
        text = f"max_wal_size is {wal_mb} MB, so checkpoints come often"
        yield Finding(Level.WARNING, "speed", text, "4GB or more is usual under load")
    yield from _memory(facts)
    cost = float(settings.get("random_page_cost", "1.1")) / float(settings.get("seq_page_cost", "1"))
    if cost > SLOW_DISK:
        text = f"random_page_cost is {cost:g} times seq_page_cost, as for rotating disks: searches avoid indexes"
        yield Finding(Level.WARNING, "speed", text, "On SSDs: 1.1")
    for name, most, advice in (
        ("commit_delay", 0, "Set it to 0: nodes put many commands into one commit already"),
        ("autovacuum_naptime", 300, "A minute is usual: tables of work in progress change all the time"),
    ):
        if (value := int(settings.get(name, "0").split()[0])) > most:
            yield Finding(Level.WARNING, "speed", f"{name} is {settings[name]}", advice)
    if 0 < (value := int(settings.get("checkpoint_timeout", "300").split()[0])) < 120:
        text = f"checkpoint_timeout is {value} s: pages are written whole again and again"
        yield Finding(Level.WARNING, "speed", text, "15min is usual under load")
    if int(settings.get("max_locks_per_transaction", "64")) < 64:
        text = f"max_locks_per_transaction is {settings['max_locks_per_transaction']}"
        yield Finding(Level.WARNING, "speed", text, "64 or more: a backup locks all tables at once")
    if settings.get("track_activities") == "off":
        text = "track_activities is off: nobody sees what a session does"
        yield Finding(Level.WARNING, "speed", text, "Turn it on: slow statements are found in pg_stat_activity")


def _memory(facts: Facts) -> Iterator[Finding]:
    for name, least in LEAST_BYTES.items():
        if (size := _bytes(facts, name)) is not None and size < least:
            text = f"{name} is {size / MEGABYTE:.1f} MB"
            yield Finding(Level.WARNING, "speed", text, f"{least >> 20}MB or more is usual: small ones sort on disk")
    if (size := _bytes(facts, "work_mem")) is not None and size > LARGE_WORK_MEM:
        most = size * int(facts.settings["max_connections"]) / 1e9
        text = f"work_mem is {size / MEGABYTE:,.0f} MB for each sort of each session: {most:,.0f} GB for all of them"
        yield Finding(Level.WARNING, "speed", text, "64MB is enough for Vivero's statements")


def _bytes(facts: Facts, name: str) -> int | None:
    value, _, unit = facts.settings.get(name, "").partition(" ")
    return int(value) * UNITS[unit] if value and unit in UNITS else None


def privacy(facts: Facts) -> Iterator[Finding]:
    """Settings that write variables and bodies of requests into the server's log."""
    advice = "Set it back when you have seen enough: erasures do not reach the server's log"
    if (value := facts.settings.get("log_statement", "none")) in ("mod", "all"):
        text = f"log_statement is {value}: the server's log has variables of instances"
        yield Finding(Level.WARNING, "privacy", text, advice)
    if facts.settings.get("log_min_duration_statement", "-1").split()[0] == "0":
        text = "log_min_duration_statement is 0: the server's log has variables of instances"
        yield Finding(Level.WARNING, "privacy", text, advice)
