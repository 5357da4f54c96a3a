"""Settings of the program's own chores: how often each runs, and how much it does at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from vivero.core.bpmn.elements.retention_limits import LONGEST_MS, NEVER, SHORTEST_MS
from vivero.engine.buckets.locations import bucket_and_prefix, check_access
from vivero.engine.jobs.durations import seconds

SHORTEST_LOG_MS = 2 * 24 * 3600 * 1000
MAX_CATCH_UP = 1_000_000.0


def retention_ms(text: str) -> int | None:
    """The milliseconds of an ISO 8601 duration; None for `never`.

    Raises:
        ValueError: it is neither, or too short.
    """
    if text == NEVER:
        return None
    try:
        given_ms = seconds(text) * 1000
    except ValueError as error:
        raise ValueError(f"{error}, nor '{NEVER}'") from error
    if given_ms < SHORTEST_MS:
        raise ValueError(f"the duration '{text}' is shorter than a minute: clients may still ask for results")
    return int(min(given_ms, LONGEST_MS))


@dataclass(frozen=True, slots=True)
class ExpirySettings:
    """The deletion of expired messages. Seconds and messages."""

    every_s: float = 1.0
    """Interval in which expired messages are looked for."""
    messages: int = 500
    """Messages deleted at once."""
    pause_s: float = 0.05
    """Pause between deletions while there are more."""

    def __post_init__(self) -> None:
        if self.messages < 1 or self.every_s <= 0:
            raise ValueError("messages must be at least 1, and every_s more than 0")


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """Log partitions, the cursor and the element counts. Seconds and rows."""

    every_s: float = 2.0
    """Interval in which log partitions are created ahead, the cursor is trimmed, and element counts are added up."""
    changes: int = 20_000
    """Changes of element counts added up at once."""

    def __post_init__(self) -> None:
        if self.changes < 1 or self.every_s <= 0:
            raise ValueError("changes must be at least 1, and every_s more than 0")


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """The times for which ended rows and audit records stay, and the way in which they are deleted."""

    ended_days: float = 30.0
    """Time for which searches find ended subscriptions, correlated messages and timers, by the engine's clock; 0: for
    ever.
    """
    audit_days: float = 365.0
    """Time for which records of the audit log stay, by the database's time; 0: for ever."""
    failed_jobs_days: float = 30.0
    """Time for which failed executions of background jobs stay, by the engine's clock; 0: for ever."""
    usage_days: float = 730.0
    """Time for which usage metrics and charts know the past, by the engine's clock; 0: for ever."""
    every_s: float = 60.0
    """Interval in which older rows are looked for."""
    rows: int = 500
    """Rows of a table deleted at once."""
    pause_s: float = 0.2
    """Pause between deletions while there are more."""
    instances: str = "P30D"
    """Time for which ended process instances stay: at least a minute, or `never`."""
    processes: dict[str, str] = field(default_factory=dict)
    """The same for single processes, by their ids: a table in the file, a JSON object in the environment."""
    tenants: dict[str, str] = field(default_factory=dict)
    """The same for single tenants, by their ids. A process, and what its model says, come before."""
    log: str = "P30D"
    """Time for which commands and events stay in the logs at least: two days or more, or `never`."""
    catch_up: float = 24.0
    """Hours of the engine's clock that retention follows in an hour, at most."""
    archive: str | None = None
    """Directory, or `s3://bucket/prefix`, to which instances are written before they are deleted."""
    archive_deletions: bool = True
    """Archive also the instances that people delete, one by one or by a batch operation."""
    archive_endpoint: str | None = None
    """URL of an S3-compatible store. None: Amazon's."""
    archive_region: str | None = None
    """Its region."""
    archive_access_key: str | None = None
    """Its credentials, with `retention.archive_secret`: both or none. None: where Amazon's tools look for them."""
    archive_secret: str | None = field(default=None, repr=False)
    """Secret key of the store, for example by `VIVERO_RETENTION_ARCHIVE_SECRET_FILE`."""

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
        days = (self.ended_days, self.audit_days, self.failed_jobs_days, self.usage_days)
        if not all(each >= 0 for each in days) or self.rows < 1 or self.every_s <= 0:
            raise ValueError(
                "ended_days, audit_days, failed_jobs_days and usage_days must not be negative, rows must be at least "
                "1, and every_s more than 0"
            )
        self._check_archive()

    def _check_archive(self) -> None:
        if self.archive == "":
            raise ValueError("archive must name a directory, or a bucket: s3://bucket/prefix")
        of_s3 = (self.archive_endpoint, self.archive_region, self.archive_access_key, self.archive_secret)
        if self.archive is None:
            return
        if bucket_and_prefix(self.archive) is None:
            if any(each is not None for each in of_s3):
                raise ValueError("archive_endpoint, _region, _access_key and _secret need an archive of s3://bucket")
            return
        check_access("archive", self.archive_endpoint, self.archive_access_key, self.archive_secret)


def _check_duration(name: str, text: str) -> None:
    try:
        retention_ms(text)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
