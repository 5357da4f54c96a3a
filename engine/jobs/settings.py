"""Settings of the dispatcher of background jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vivero.engine.jobs.durations import seconds
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.tracker import RunLimits
from vivero.engine.jobs.type_settings import JobTypeSettings


@dataclass(frozen=True, slots=True)
class JobSettings:
    """The number of executions that a node runs at once, and their leases. Durations are ISO 8601."""

    module: str | None = None
    """File or importable module with jobs of your own."""
    min_concurrent: int = 2
    """A node pulls at once while fewer run, and above that every 100 ms."""
    max_concurrent: int = 10
    """Executions that a node runs at once."""
    poll_interval: str = "PT1S"
    """Interval in which a node looks for executions without a notification."""
    keep_alive_interval: str = "PT5S"
    """A run sends heartbeats at a quarter of it."""
    stale_threshold: str = "PT30S"
    """A run without a heartbeat for this time is taken from its node and tried again."""
    drain: str = "PT5S"
    """Wait of a stop for runs. Runs that do not end are handed back."""
    max_attempts: int = 5
    """Attempts of an execution; 0: no limit."""
    initial_interval: str = "PT5S"
    """Pause after the first failed attempt."""
    max_interval: str = "PT1H"
    """Longest pause between attempts."""
    multiplier: float = 2.0
    """Factor by which each pause is longer than the one before."""
    types: Mapping[str, JobTypeSettings] = field(default_factory=dict)
    """Settings of single types: in the file a table for each type, in the environment a JSON object."""

    def __post_init__(self) -> None:
        _ = self.limits
        if self.poll_s <= 0 or self.beat_s <= 0:
            raise ValueError("poll_interval and keep_alive_interval must be longer than zero")
        if self.stale_s < seconds(self.keep_alive_interval):
            raise ValueError("stale_threshold must not be shorter than keep_alive_interval")
        _ = self.drain_s, self.retry
        for name, each in self.types.items():
            self._check(name, each)

    def _check(self, name: str, each: JobTypeSettings) -> None:
        try:
            _ = each.limits(self.limits), each.retry(self.retry)
            if each.stale_threshold is not None and seconds(each.stale_threshold) < seconds(self.keep_alive_interval):
                raise ValueError("stale_threshold must not be shorter than jobs.keep_alive_interval")
        except ValueError as error:
            raise ValueError(f"'{name}': {error}") from error

    @property
    def limits(self) -> RunLimits:
        """The number of executions of all types together that run at once on a node."""
        return RunLimits(self.min_concurrent, self.max_concurrent)

    @property
    def poll_s(self) -> float:
        return seconds(self.poll_interval)

    @property
    def beat_s(self) -> float:
        """The seconds between two heartbeats."""
        return seconds(self.keep_alive_interval) / 4

    @property
    def stale_s(self) -> float:
        return seconds(self.stale_threshold)

    @property
    def drain_s(self) -> float:
        return seconds(self.drain)

    @property
    def retry(self) -> RetrySettings:
        """The retry settings of jobs that have none of their own."""
        return RetrySettings(
            self.max_attempts, seconds(self.initial_interval), seconds(self.max_interval), self.multiplier
        )
