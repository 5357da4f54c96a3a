"""The properties of temporal values, `date.year` (DMN 1.5, table 65), in the order in which warnings name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.feel.temporal.calendar import NANOS_PER_DAY, NANOS_PER_SECOND, truncated_divmod
from engine.feel.temporal.types import Date, DateTime, DayTimeDuration, Time, YearMonthDuration

Property = Callable[[Any], Any]


def _offset(value: Time | DateTime) -> DayTimeDuration | None:
    return None if value.offset is None else DayTimeDuration.of_seconds(value.offset)


def _clock_part(unit_s: int, size: int) -> Property:
    return lambda value: value.nanos // (unit_s * NANOS_PER_SECOND) % size


def _duration_part(unit_s: int, size: int) -> Property:
    """A part of a days and time duration, with the duration's sign."""

    def part(value: DayTimeDuration) -> int:
        whole, _ = truncated_divmod(value.nanos, unit_s * NANOS_PER_SECOND)
        return truncated_divmod(whole, size)[1]

    return part


_hour, _minute, _second = _clock_part(3600, 24), _clock_part(60, 60), _clock_part(1, 60)

PROPERTIES: Mapping[type, Mapping[str, Property]] = {
    Date: {
        "year": lambda v: v.year,
        "month": lambda v: v.month,
        "day": lambda v: v.day,
        "weekday": lambda v: v.weekday,
    },
    Time: {
        "timezone": lambda v: v.zone,
        "second": _second,
        "time offset": _offset,
        "minute": _minute,
        "hour": _hour,
    },
    DateTime: {
        "timezone": lambda v: v.zone,
        "year": lambda v: v.date.year,
        "second": _second,
        "month": lambda v: v.date.month,
        "day": lambda v: v.date.day,
        "time offset": _offset,
        "weekday": lambda v: v.date.weekday,
        "minute": _minute,
        "hour": _hour,
    },
    YearMonthDuration: {
        "years": lambda v: truncated_divmod(v.months, 12)[0],
        "months": lambda v: truncated_divmod(v.months, 12)[1],
    },
    DayTimeDuration: {
        "days": lambda v: truncated_divmod(v.nanos, NANOS_PER_DAY)[0],
        "hours": _duration_part(3600, 24),
        "minutes": _duration_part(60, 60),
        "seconds": _duration_part(1, 60),
    },
}
