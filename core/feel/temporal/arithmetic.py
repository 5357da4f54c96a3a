"""Arithmetic on temporal values (DMN 1.5, table 55), with the rules of java.time where the standard has none.

Every function gives None for operands without a rule, and raises OverflowError if the result is out of the range of
its type. Numbers are `int | Decimal`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from vivero.core.feel.temporal import calendar
from vivero.core.feel.temporal.calendar import NANOS_PER_DAY
from vivero.core.feel.temporal.durations import DayTimeDuration, YearMonthDuration, same_kind
from vivero.core.feel.temporal.types import Date, DateTime, Time
from vivero.core.feel.values import MATH, is_number

_EXPONENT_LIMIT = 40  # every duration times a number beyond 10**40 overflows


def add(a: Any, b: Any) -> Any:
    """`a + b`. At least one operand must be a temporal."""
    rule = _ADD.get((type(a), type(b)))
    if rule is not None:
        return rule(a, b)
    rule = _ADD.get((type(b), type(a)))
    return None if rule is None else rule(b, a)


def subtract(a: Any, b: Any) -> Any:
    """`a - b`. At least one operand must be a temporal."""
    if isinstance(b, YearMonthDuration | DayTimeDuration):
        rule = _ADD.get((type(a), type(b)))
        return None if rule is None else rule(a, negate(b))
    return difference(a, b)


def difference(a: Any, b: Any) -> Any:
    """The time from `b` to `a`: two dates, two times or two dates with time.

    Together with a zoned date with time, a date counts as midnight in UTC (DMN 1.5, 10.3.2.3.6).
    """
    if isinstance(a, Date) and isinstance(b, Date):
        return DayTimeDuration((a.epoch_day - b.epoch_day) * NANOS_PER_DAY)
    a, b = _at_midnight(a, b), _at_midnight(b, a)
    if isinstance(a, Time | DateTime) and same_kind(a, b):
        return DayTimeDuration(a.key()[1] - b.key()[1])
    return None


def _at_midnight(value: Any, other: Any) -> Any:
    if isinstance(value, Date) and isinstance(other, DateTime) and not other.is_local:
        return DateTime(value, 0, 0)
    return value


def negate(duration: Any) -> Any:
    """`-duration`; None for anything else."""
    if isinstance(duration, YearMonthDuration):
        return YearMonthDuration(-duration.months)
    if isinstance(duration, DayTimeDuration):
        return DayTimeDuration(-duration.nanos)
    return None


def absolute(duration: Any) -> Any:
    """`abs(duration)`; None for anything else."""
    if isinstance(duration, YearMonthDuration):
        return YearMonthDuration(abs(duration.months))
    if isinstance(duration, DayTimeDuration):
        return DayTimeDuration(abs(duration.nanos))
    return None


def multiply(a: Any, b: Any) -> Any:
    """A duration times a number, in either order. The number's fraction is dropped, as in feel-scala."""
    duration, number = (b, a) if is_number(a) else (a, b)
    if not is_number(number):
        return None
    if isinstance(duration, YearMonthDuration):
        return YearMonthDuration(duration.months * _whole(number))
    if isinstance(duration, DayTimeDuration):
        return DayTimeDuration(duration.nanos * _whole(number))
    return None


def divide(a: Any, b: Any) -> Any:
    """A duration divided by a number (whole months or nanoseconds) or by a duration of its kind (a number).

    Division by zero gives None, because FEEL has no value for it.
    """
    if isinstance(a, YearMonthDuration) and isinstance(b, YearMonthDuration):
        return _quotient(a.months, b.months)
    if isinstance(a, DayTimeDuration) and isinstance(b, DayTimeDuration):
        return _quotient(a.nanos, b.nanos)
    if not is_number(b) or b == 0:
        return None
    if isinstance(a, YearMonthDuration):
        return YearMonthDuration(_whole(MATH.divide(a.months, b)))
    if isinstance(a, DayTimeDuration):
        return DayTimeDuration(_whole(MATH.divide(a.nanos, b)))
    return None


def _quotient(a: int, b: int) -> Any:
    if b == 0:
        return None
    return a // b if a % b == 0 else MATH.divide(a, b)


def _whole(number: int | Decimal) -> int:
    """A number without its fraction. Raises OverflowError if its product with every duration overflows."""
    if isinstance(number, Decimal) and number.adjusted() > _EXPONENT_LIMIT:
        raise OverflowError("The duration is too long")
    return int(number)


def add_months(date: Date, months: int) -> Date:
    """A date some months later, or the last day of that month if it has no such day. Raises OverflowError."""
    years, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    if not calendar.MIN_YEAR <= years <= calendar.MAX_YEAR:
        raise OverflowError(f"Year {years} is out of range")
    return Date(years, month + 1, min(date.day, calendar.month_length(years, month + 1)))


def months_between(start: Date, end: Date) -> YearMonthDuration:
    """The whole months from `start` to `end`, negative if `end` is earlier (java.time.Period.between)."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if months > 0 and end.day < start.day:
        months -= 1
    elif months < 0 and end.day > start.day:
        months += 1
    return YearMonthDuration(months)


def _add_months_to_date_time(value: DateTime, duration: YearMonthDuration) -> DateTime:
    date = add_months(value.date, duration.months)
    if value.zone is not None:
        return DateTime.in_zone(date, value.nanos, value.zone, value.offset)
    return DateTime(date, value.nanos, value.offset)


def _add_nanos_to_date_time(value: DateTime, duration: DayTimeDuration) -> DateTime:
    return DateTime.at_instant(value.epoch_nanos + duration.nanos, value.offset, value.zone)


def _add_nanos_to_date(value: Date, duration: DayTimeDuration) -> Date:
    return Date.from_epoch_day(value.epoch_day + duration.nanos // NANOS_PER_DAY)


def _add_nanos_to_time(value: Time, duration: DayTimeDuration) -> Time:
    return Time((value.nanos + duration.nanos) % NANOS_PER_DAY, value.offset, value.zone)


_ADD: dict[tuple[type, type], Callable[[Any, Any], Any]] = {
    (Date, YearMonthDuration): lambda a, b: add_months(a, b.months),
    (Date, DayTimeDuration): _add_nanos_to_date,
    (DateTime, YearMonthDuration): _add_months_to_date_time,
    (DateTime, DayTimeDuration): _add_nanos_to_date_time,
    (Time, DayTimeDuration): _add_nanos_to_time,
    (YearMonthDuration, YearMonthDuration): lambda a, b: YearMonthDuration(a.months + b.months),
    (DayTimeDuration, DayTimeDuration): lambda a, b: DayTimeDuration(a.nanos + b.nanos),
}
