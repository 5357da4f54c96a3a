"""Built-in functions on dates and the clock (DMN 1.5, 10.3.4.8 and 10.3.4.10). The clock is in UTC."""

from __future__ import annotations

from typing import Any

from vivero.core.feel.builtins.arguments import date_of
from vivero.core.feel.temporal import Date, DateTime
from vivero.core.feel.temporal.calendar import NANOS_PER_MILLI, epoch_day, month_length, week_of_year
from vivero.core.feel.values import FunctionFailure, Overload, Run

NO_CLOCK = "The evaluation has no clock"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def now(run: Run) -> Any:
    if run.now_ms is None:
        raise FunctionFailure(NO_CLOCK)
    run.spend(50)
    return DateTime.at_instant(run.now_ms * NANOS_PER_MILLI, 0)


def today(run: Run) -> Any:
    return now(run).date


def day_of_year(run: Run, date: Any) -> Any:
    run.spend(15)
    day = date_of(date)
    return day.epoch_day - epoch_day(day.year, 1, 1) + 1


def day_of_week(run: Run, date: Any) -> Any:
    return _WEEKDAYS[date_of(date).weekday - 1]


def month_of_year(run: Run, date: Any) -> Any:
    return _MONTHS[date_of(date).month - 1]


def iso_week(run: Run, date: Any) -> Any:
    """The number of the ISO 8601 week."""
    run.spend(40)
    return week_of_year(date_of(date).epoch_day)


def last_day_of_month(run: Run, date: Any) -> Any:
    run.spend(15)
    day = date_of(date)
    return Date(day.year, day.month, month_length(day.year, day.month))


_DATE = ("date",)

FUNCTIONS = {
    "now": (Overload((), now, pure=False),),
    "today": (Overload((), today, pure=False),),
    "day of year": (Overload(_DATE, day_of_year),),
    "day of week": (Overload(_DATE, day_of_week),),
    "month of year": (Overload(_DATE, month_of_year),),
    "week of year": (Overload(_DATE, iso_week),),
    "last day of month": (Overload(_DATE, last_day_of_month),),
}
