"""The proleptic Gregorian calendar as plain integers: days since 1970-01-01, for years that `datetime` cannot hold."""

from __future__ import annotations


class TemporalError(ValueError):
    """A text or some numbers that stand for no temporal value."""


MIN_YEAR = -999_999_999
MAX_YEAR = 999_999_999

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_MILLI = 1_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND

DAYS_PER_CYCLE = 146_097  # the calendar repeats, weekdays included, every 400 years
YEARS_PER_CYCLE = 400

_DAYS_TO_EPOCH = 719_468  # from 0000-03-01 to 1970-01-01
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap_year(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap_year(year) else _MONTH_DAYS[month - 1]


def epoch_day(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to this date. Years are counted from March, so that a leap day is a year's last day."""
    march_year, march_month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    cycle, year_of_cycle = divmod(march_year, YEARS_PER_CYCLE)
    day_of_year = (153 * march_month + 2) // 5 + day - 1
    day_of_cycle = year_of_cycle * 365 + year_of_cycle // 4 - year_of_cycle // 100 + day_of_year
    return cycle * DAYS_PER_CYCLE + day_of_cycle - _DAYS_TO_EPOCH


def from_epoch_day(days: int) -> tuple[int, int, int]:
    """Year, month and day that are `days` after 1970-01-01: the inverse of `epoch_day`."""
    cycle, day_of_cycle = divmod(days + _DAYS_TO_EPOCH, DAYS_PER_CYCLE)
    leap_days = day_of_cycle // 1_460 - day_of_cycle // 36_524 + day_of_cycle // 146_096
    year_of_cycle = (day_of_cycle - leap_days) // 365
    day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    march_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * march_month + 2) // 5 + 1
    month = march_month + 3 if march_month < 10 else march_month - 9
    return cycle * YEARS_PER_CYCLE + year_of_cycle + (month <= 2), month, day


def weekday(days: int) -> int:
    """ISO day of the week, Monday is 1. 1970-01-01 was a Thursday."""
    return (days + 3) % 7 + 1


def week_of_year(days: int) -> int:
    """ISO 8601 week number of a day: the week belongs to the year that its Thursday is in."""
    thursday = days + 4 - weekday(days)
    return (thursday - epoch_day(from_epoch_day(thursday)[0], 1, 1)) // 7 + 1


def truncated_divmod(number: int, divisor: int) -> tuple[int, int]:
    """Quotient towards zero and a remainder with the sign of `number`, as Java's `/` and `%`."""
    quotient = abs(number) // divisor if number >= 0 else -(abs(number) // divisor)
    return quotient, number - quotient * divisor
