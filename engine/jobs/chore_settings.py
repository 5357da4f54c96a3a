"""Settings of the program's own chores: how often each runs, and how much it does at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from vivero.engine.jobs.durations import seconds

NEVER = "never"
"""In place of a duration: what ended stays."""
SHORTEST_S = 60.0
"""Ended instances stay at least so long: clients still ask for their results."""
SHORTEST_LOG_MS = 2 * 24 * 3600 * 1000
MAX_CATCH_UP = 1_000_000.0
LONGEST_S = 365_000 * 24 * 3600.0
"""A longer time makes no difference, and gives dates that PostgreSQL cannot represent."""


def retention_ms(text: str) -> int | None:
    """The milliseconds of an ISO 8601 duration; None for `never`.

    Raises:
        ValueError: it is neither, or too short.
    """
    if text == NEVER:
        return None
    try:
        given_s = seconds(text)
    except ValueError as error:
        raise ValueError(f"{error}, nor '{NEVER}'") from error
    if given_s < SHORTEST_S:
        raise ValueError(f"the duration '{text}' is shorter than a minute: clients may still ask for results")
    return int(min(given_s, LONGEST_S) * 1000)


@dataclass(frozen=True, slots=True)
class ExpirySettings:
    """The deletion of expired messages. Seconds and messages."""

    every_s: float = 1.0
    messages: int = 500
    pause_s: float = 0.05
    """The pause between two batches while there is more to delete."""

    def __post_init__(self) -> None:
        if self.messages < 1 or self.every_s <= 0:
            raise ValueError("messages must be at least 1, and every_s more than 0")


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """Log partitions, the cursor and the element counts. Seconds and rows."""

    every_s: float = 2.0
    changes: int = 20_000
    """The number of differences of element counts that are added up at once."""

    def __post_init__(self) -> None:
        if self.changes < 1 or self.every_s <= 0:
            raise ValueError("changes must be at least 1, and every_s more than 0")


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long ended rows and audit records stay, and how they are deleted."""

    ended_days: float = 30.0
    """0 keeps them for ever."""
    audit_days: float = 365.0
    """How long records of the audit log stay, by the database's time; 0 keeps them for ever."""
    every_s: float = 60.0
    rows: int = 500
    """Rows of one table that are deleted at once."""
    pause_s: float = 0.2
    """The pause between two batches while there is more to delete."""
    instances: str = "P30D"
    """How long ended instances stay: an ISO 8601 duration, or `never` to keep them for ever."""
    processes: dict[str, str] = field(default_factory=dict)
    """The same for single processes, by their ids. Comes before what a model says, and before `tenants`."""
    tenants: dict[str, str] = field(default_factory=dict)
    """The same for single tenants, by their ids."""
    log: str = "P30D"
    """How long commands and events stay in the logs at least: two days or more, or `never` to keep them for ever."""
    catch_up: float = 24.0
    """How much faster than the clock on the wall retention follows the engine's clock at most."""
    archive: Path | None = None
    """The directory to which trees are written before they are deleted; None: they are not."""

    def __post_init__(self) -> None:
        _check_duration("instances", self.instances)
        for name, table in (("processes", self.processes), ("tenants", self.tenants)):
            for id, duration in table.items():
                _check_duration(f"{name} '{id}'", duration)
        _check_duration("log", self.log)
        log_ms = retention_ms(self.log)
        if log_ms is not None and log_ms < SHORTEST_LOG_MS:
            raise ValueError("log must be P2D or longer: idempotency keys name positions of the log for a day")
        if not 1 <= self.catch_up <= MAX_CATCH_UP:
            raise ValueError(f"catch_up must be from 1 to {MAX_CATCH_UP:,.0f}")
        if min(self.ended_days, self.audit_days) < 0 or self.rows < 1 or self.every_s <= 0:
            raise ValueError(
                "ended_days and audit_days must not be negative, rows must be at least 1, and every_s more than 0"
            )


def _check_duration(name: str, text: str) -> None:
    try:
        retention_ms(text)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
