"""The proleptic Gregorian calendar in integers, days since 1970-01-01, for years beyond the range of `datetime`."""

from __future__ import annotations


class TemporalError(ValueError):
    """A text or numbers that do not denote a temporal value."""


MIN_YEAR = -999_999_999
MAX_YEAR = 999_999_999

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_MILLI = 1_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND

DAYS_PER_CYCLE = 146_097  # the calendar, including its weekdays, repeats every 400 years
YEARS_PER_CYCLE = 400

_DAYS_TO_EPOCH = 719_468  # from 0000-03-01 to 1970-01-01
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap_year(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap_year(year) else _MONTH_DAYS[month - 1]


def epoch_day(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to this date. The computation starts years in March: leap days are then their last day."""
    march_year, march_month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    cycle, year_of_cycle = divmod(march_year, YEARS_PER_CYCLE)
    day_of_year = (153 * march_month + 2) // 5 + day - 1
    day_of_cycle = year_of_cycle * 365 + year_of_cycle // 4 - year_of_cycle // 100 + day_of_year
    return cycle * DAYS_PER_CYCLE + day_of_cycle - _DAYS_TO_EPOCH


def from_epoch_day(days: int) -> tuple[int, int, int]:
    """Year, month and day `days` after 1970-01-01: the inverse of `epoch_day`."""
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
    """ISO 8601 week number of a day. A week belongs to the year that contains its Thursday."""
    thursday = days + 4 - weekday(days)
    return (thursday - epoch_day(from_epoch_day(thursday)[0], 1, 1)) // 7 + 1


def truncated_divmod(number: int, divisor: int) -> tuple[int, int]:
    """The quotient rounded towards zero, and the remainder with the sign of `number`, as Java's `/` and `%`."""
    quotient = abs(number) // divisor if number >= 0 else -(abs(number) // divisor)
    return quotient, number - quotient * divisor
