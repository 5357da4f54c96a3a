"""Settings and counters of the timer task."""

from __future__ import annotations

from dataclasses import dataclass, field

from vivero.core.rules import TIMER_RULES, TimerRules
from vivero.engine.counters.buckets import Buckets

MAX_IN_FLIGHT = 1_000
LATE = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 600.0, 3600.0)
"""Upper bounds for the lateness of timers: milliseconds while all is well, hours after a downtime."""


@dataclass(frozen=True, slots=True)
class TimerSettings:
    """Limits of the timer task. Times are in seconds."""

    window: int = 2_000
    """Due dates in memory; the others stay in PostgreSQL."""
    in_flight: int = 400
    """Timers that have fired and are not yet processed."""
    delay_s: float = 0.1
    """Approximate wait of commands behind overdue timers. Fewer timers are in flight on a slow machine."""
    batch: int = 200
    """Timers that fire in one append."""
    check_s: float = 60.0
    """Interval in which the due dates are read again without a wake-up."""
    append_timeout_s: float = 5.0
    """Deadline of an append."""
    call_timeout_s: float = 5.0
    """Deadline of a read."""
    cron_zone: str = TIMER_RULES.cron_zone
    """Time zone of cron expressions."""
    missed_limit: int = TIMER_RULES.missed_limit
    """Missed occurrences of a cycle, the latest ones, that fire after a downtime; 0: none."""

    @property
    def rules(self) -> TimerRules:
        """The rules that the core needs. Raises ValueError for an unknown zone and for a negative limit."""
        return TimerRules(self.cron_zone, self.missed_limit)

    def __post_init__(self) -> None:
        _ = self.rules
        if not 0 < self.batch <= self.in_flight <= MAX_IN_FLIGHT:
            raise ValueError(
                f"timers.batch and timers.in_flight must satisfy 0 < batch <= in_flight <= {MAX_IN_FLIGHT}"
            )
        if self.delay_s <= 0:
            raise ValueError("timers.delay_s must be greater than 0")


@dataclass(slots=True)
class TimerStats:
    """Counters for metrics and tests; they only grow."""

    fired: int = 0
    """The number of triggers appended."""
    refills: int = 0
    again: int = 0
    """The number of timers that were still pending after their trigger was processed."""
    late_s: Buckets = field(default_factory=lambda: Buckets(LATE))
    """From the due date of a timer to the moment at which its trigger was processed, by the engine's clock."""
