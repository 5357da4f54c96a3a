"""The times of scheduled jobs: cron expressions in a time zone, or fixed periods.

A run that was missed, because no node was up or the last one took too long, is made up once, at once. Then the schedule
goes on with its next time in the future. Runs of one job never overlap, because the job has a single row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from vivero.core.feel.temporal import zones
from vivero.core.feel.temporal.cron import Cron, parse_cron
from vivero.engine.jobs import durations

CRON_FIELDS_WITHOUT_SECONDS = 5


class Schedule(Protocol):
    """The times at which a job runs. A schedule with another `text` is another schedule, and starts again."""

    @property
    def text(self) -> str: ...

    def after(self, now_ms: int) -> int:
        """The next time after `now_ms`, both in epoch ms. Raises ValueError if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """The times of a cron expression, by the clocks of a time zone (`core/feel/temporal/cron.py` has the syntax)."""

    cron: Cron
    zone: str

    @property
    def text(self) -> str:
        return f"{self.cron.text} {self.zone}"

    def after(self, now_ms: int) -> int:
        found = self.cron.after(now_ms, self.zone)
        if found is None:
            raise ValueError(f"the cron expression '{self.cron.text}' has no time in the future")
        return found


@dataclass(frozen=True, slots=True)
class PeriodicSchedule:
    """The multiples of a period since the epoch, so that all nodes and restarts agree on the times."""

    period: str
    period_ms: int

    @property
    def text(self) -> str:
        return self.period

    def after(self, now_ms: int) -> int:
        return (now_ms // self.period_ms + 1) * self.period_ms


def cron(expression: str, zone: str = "UTC") -> CronSchedule:
    """A schedule by a cron expression of five fields, or of six with seconds first.

    Raises:
        ValueError: the expression or the zone is not valid.
    """
    fields = expression.split()
    if len(fields) == CRON_FIELDS_WITHOUT_SECONDS:
        expression = f"0 {expression.strip()}"
    zone_id = "Z" if zone == "UTC" else zone
    zones.resolve_zone(zone_id)
    return CronSchedule(parse_cron(expression), zone_id)


def every(period: str) -> PeriodicSchedule:
    """A schedule by an ISO 8601 duration. Raises ValueError if it is not a duration, or shorter than a millisecond."""
    period_ms = round(durations.seconds(period) * 1000)
    if period_ms < 1:
        raise ValueError(f"the period '{period}' is too short")
    return PeriodicSchedule(period, period_ms)
