"""The ISO 8601 intervals, repetitions and dates of timer events and job backoffs, in epoch milliseconds.

A cycle such as `R3/PT10M` or `R/2026-01-01T00:00:00Z/P1D` consists of a number of repetitions (None: without end), an
optional start and an interval. An interval may mix calendar units and time: `P1M2DT3H`. Calendar units are added in
UTC or in a zone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vivero.core.feel.temporal import zones
from vivero.core.feel.temporal.arithmetic import add_months
from vivero.core.feel.temporal.calendar import NANOS_PER_DAY, NANOS_PER_MILLI, TemporalError
from vivero.core.feel.temporal.durations import DayTimeDuration, YearMonthDuration
from vivero.core.feel.temporal.parsing import parse_date_time, parse_duration
from vivero.core.feel.temporal.types import Date, DateTime

LATEST_MS = 253_402_300_799_999
"""The latest due date of a timer: the end of the year 9999."""
SHORTEST_ENDLESS_MS = 1_000
"""The shortest interval of a cycle that repeats without end."""
MAX_REPETITIONS = 2**31 - 1

_INTERVAL = re.compile(
    r"(-?)P(?:(-?\d{1,9})Y)?(?:(-?\d{1,9})M)?(?:(-?\d{1,9})W)?(?:(-?\d{1,9})D)?(T-?\d[-0-9.HMS]*)?", re.ASCII
)
_LOCAL_IN_ZONE = re.compile(r"([^T]*T[0-9:.]+)\[([^]@]+)\]\Z", re.ASCII)
"""The match starts at the beginning of the text, so that it takes linear time for long texts without a date."""
_CYCLE = re.compile(r"R(\d{1,10})?/(?:(.+)/)?([^/]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Interval:
    """A length of time in calendar months, calendar days and nanoseconds."""

    months: int
    days: int
    nanos: int

    def added_to(self, epoch_ms: int, zone_id: str = "Z") -> int:
        """The epoch milliseconds one interval after `epoch_ms`. Raises OverflowError beyond 64 bits."""
        offset, zone = zones.resolve_zone(zone_id)
        start = DateTime.at_instant(epoch_ms * NANOS_PER_MILLI, offset, zone)
        day = add_months(start.date, self.months).epoch_day + self.days
        local = DateTime(Date.from_epoch_day(day), start.nanos, start.offset)
        if zone is not None:
            local = DateTime.in_zone(local.date, local.nanos, zone, start.offset)
        return _in_64_bits((local.epoch_nanos + self.nanos) // NANOS_PER_MILLI)

    @property
    def is_positive(self) -> bool:
        """True if adding it leads forward. A month counts as 28 days."""
        return (self.months * 28 + self.days) * NANOS_PER_DAY + self.nanos > 0


@dataclass(frozen=True, slots=True)
class Cycle:
    """A repetition. `repetitions` None: without end; `start_ms` None: now."""

    repetitions: int | None
    start_ms: int | None
    interval: Interval


def cycle_problem(cycle: Cycle, now_ms: int) -> str | None:
    """The reason why timers cannot use this cycle, a predicate for its text; None if they can. Raises OverflowError."""
    repetitions, interval = cycle.repetitions, cycle.interval
    if repetitions == 0:
        return "never fires"
    if repetitions is not None and repetitions > MAX_REPETITIONS:
        return f"repeats more often than {MAX_REPETITIONS} times"
    if not interval.is_positive and repetitions != 1:
        return "repeats without any time in between"
    if repetitions is None and interval.added_to(now_ms) - now_ms < SHORTEST_ENDLESS_MS:
        return "repeats without end at an interval shorter than a second"
    return None


def interval_of(duration: YearMonthDuration | DayTimeDuration) -> Interval:
    """The interval that a FEEL duration stands for."""
    if isinstance(duration, YearMonthDuration):
        return Interval(duration.months, 0, 0)
    return Interval(0, 0, duration.nanos)


def parse_interval(text: str) -> Interval:
    """An ISO 8601 duration, also with mixed units or weeks (`P1M2DT3H`, `P2W`). Raises TemporalError."""
    match = _INTERVAL.fullmatch(text)
    if match is None or text[-1] in "PT":
        raise TemporalError(f"Invalid duration '{text}'")
    sign, years, months, weeks, days, time = match.groups()
    clock = parse_duration(f"P{time}") if time else DayTimeDuration(0)
    assert isinstance(clock, DayTimeDuration)
    factor = -1 if sign else 1
    month_count = int(years or 0) * 12 + int(months or 0)
    return Interval(factor * month_count, factor * (int(weeks or 0) * 7 + int(days or 0)), factor * clock.nanos)


def parse_cycle(text: str) -> Cycle:
    """`R/PT1H`, `R3/PT1H`, `R3/2026-01-01T00:00:00+01:00[Europe/Berlin]/P1D`. Raises TemporalError."""
    match = _CYCLE.fullmatch(text)
    if match is None:
        raise TemporalError(f"Invalid repetition '{text}'")
    count, start, interval = match.groups()
    return Cycle(
        None if count is None else int(count), parse_date_ms(start) if start else None, parse_interval(interval)
    )


def parse_date_ms(text: str) -> int:
    """Epoch milliseconds of a date or a date with time. Without an offset it counts as UTC.

    A local time may name its zone in brackets, `2027-01-01T09:00:00[Europe/Berlin]`, or as in FEEL after `@`.

    Raises TemporalError, also for a date beyond 64 bits of milliseconds (292 million years).
    """
    named = _LOCAL_IN_ZONE.match(text)
    try:
        return _in_64_bits(parse_date_time(text if named is None else f"{named[1]}@{named[2]}").epoch_ms)
    except OverflowError as e:
        raise TemporalError(f"Failed to parse date-time from '{text}': {e}") from None


def date_text(epoch_ms: int) -> str:
    """The date in UTC, as in `2030-01-31T12:00:00Z`."""
    return str(DateTime.at_instant(epoch_ms * NANOS_PER_MILLI, 0))


def _in_64_bits(epoch_ms: int) -> int:
    if not -(2**63) <= epoch_ms < 2**63:
        raise OverflowError("The time is too far away")
    return epoch_ms
