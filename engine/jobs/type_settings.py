"""Settings of single types of jobs, which come before what their definitions say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from vivero.engine.jobs import schedules
from vivero.engine.jobs.definitions import JobDefinition, Runs
from vivero.engine.jobs.durations import seconds
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.schedules import Schedule
from vivero.engine.jobs.tracker import RunLimits


@dataclass(frozen=True, slots=True)
class JobTypeSettings:
    """The settings of a type. None: as its definition says, or as for all types. Durations are ISO 8601."""

    min_concurrent: int | None = None
    """While fewer than this many of the type run on a node, it pulls at once; else a moment after its last pull."""
    max_concurrent: int | None = None
    """On a node."""
    batch_size: int | None = None
    """The most executions that a node pulls at once."""
    max_in_cluster: int | None = None
    """The most that run at once on all nodes together."""
    stale_threshold: str | None = None
    timeout: str | None = None
    max_attempts: int | None = None
    initial_interval: str | None = None
    max_interval: str | None = None
    multiplier: float | None = None
    cron: str | None = None
    timezone: str | None = None
    every: str | None = None
    paused: bool = False
    """The nodes with this setting begin no runs of the type."""
    origin: str = field(default="", compare=False)
    """The source of the settings, for messages."""

    def __post_init__(self) -> None:
        if self.max_in_cluster is not None and self.max_in_cluster < 1:
            raise ValueError("max_in_cluster must be at least 1")
        if self.timezone is not None and self.cron is None:
            raise ValueError("timezone needs cron")
        if self.cron is not None and self.every is not None:
            raise ValueError("cron and every exclude each other")
        for duration in (self.stale_threshold, self.timeout):
            _seconds(duration)
        _ = self.schedule, self.retry(RetrySettings(initial_interval_s=0, max_interval_s=float("inf")))

    @property
    def schedule(self) -> Schedule | None:
        if self.every is not None:
            return schedules.every(self.every)
        return None if self.cron is None else schedules.cron(self.cron, self.timezone or "UTC")

    def limits(self, of_node: RunLimits) -> RunLimits | None:
        """The limits of the type on a node; None if it has none of its own."""
        if self.min_concurrent is None and self.max_concurrent is None and self.batch_size is None:
            return None
        most = self.max_concurrent or of_node.max_concurrent
        least = most if self.max_concurrent is not None else min(of_node.min_concurrent, most)
        return RunLimits(least if self.min_concurrent is None else self.min_concurrent, most, self.batch_size)

    def retry(self, default: RetrySettings) -> RetrySettings:
        """The default with what is set."""
        given = {
            "max_attempts": self.max_attempts,
            "initial_interval_s": _seconds(self.initial_interval),
            "max_interval_s": _seconds(self.max_interval),
            "multiplier": self.multiplier,
        }
        return replace(default, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]

    def applied(self, job: JobDefinition, retry: RetrySettings, of_node: RunLimits) -> JobDefinition:
        """The definition with these settings. Raises ValueError if they do not fit the job."""
        schedule, timeout_s = self.schedule, _seconds(self.timeout)
        if schedule is not None and job.schedule is None:
            raise ValueError(f"{self.origin}: the job '{job.type}' has no schedule that could be changed")
        if timeout_s is not None and job.runs is Runs.THREAD:
            raise ValueError(f"{self.origin}: the job '{job.type}' runs in a thread and cannot have a timeout")
        return replace(
            job,
            retry=self.retry(job.retry or retry),
            schedule=schedule or job.schedule,
            timeout_s=job.timeout_s if timeout_s is None else timeout_s,
            limits=self.limits(of_node) or job.limits,
            max_in_cluster=self.max_in_cluster or job.max_in_cluster,
            stale_s=_seconds(self.stale_threshold) or job.stale_s,
            paused=self.paused or job.paused,
        )


def unknown(name: str, known: Iterable[str], origin: str) -> str:
    """The warning about settings of a type that no node has."""
    hint = "".join(f": did you mean '{near}'?" for near in get_close_matches(name, list(known), 1))
    return f"{origin}: there is no job '{name}'{hint}"


def _seconds(duration: str | None) -> float | None:
    return None if duration is None else seconds(duration)
