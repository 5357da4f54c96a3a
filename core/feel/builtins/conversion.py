"""Built-in functions that convert values (DMN 1.5, 10.3.4.1), with feel-scala's messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from vivero.core.feel import temporal
from vivero.core.feel.builtins.arguments import date_of, number, string, whole
from vivero.core.feel.semantics import text_of
from vivero.core.feel.temporal import Date, DateTime, DayTimeDuration, TemporalError, Time
from vivero.core.feel.temporal.calendar import NANOS_PER_SECOND
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Run

_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d{1,10})?", re.ASCII)
"""Possessive quantifiers let a match of a long text that is not a number take linear time."""
_GROUPING = (" ", ",", ".")
_DECIMAL = (",", ".")
_YEAR_MONTH = re.compile(r"-?P-?(?:\d+Y)?-?(?:\d+M)?", re.ASCII)
_OFFSET = re.compile(r"(?:Z|[+-]\d\d:\d\d(?:\[[^\[\]]*+\])?|@.*)\Z", re.ASCII | re.DOTALL)


_PARSING_STEPS = 40


def _parsed(run: Run, parse: Callable[[str], Any], type_name: str, text: str) -> Any:
    """The parsed text. Raises FunctionFailure with the name of the expected type."""
    run.spend(_PARSING_STEPS)
    try:
        return parse(text)
    except (TemporalError, OverflowError):
        raise FunctionFailure(f"Failed to parse {type_name} from '{text[: run.limits.message_size]}'") from None


def date_from(run: Run, value: Any) -> Any:
    if type(value) is str:
        return _parsed(run, temporal.parse_date, "date", value)
    return date_of(value)


def date_of_parts(run: Run, year: Any, month: Any, day: Any) -> Any:
    run.spend(_PARSING_STEPS)
    try:
        return Date(whole(year), whole(month), whole(day))
    except TemporalError:
        raise FunctionFailure(f"Failed to parse date from: year={year}, month={month}, day={day}") from None


def time_from(run: Run, value: Any) -> Any:
    """A time from a text or a date with time. A date gives midnight in UTC."""
    if type(value) is str:
        return _parsed(run, temporal.parse_time, "time" if _OFFSET.search(value) else "local-time", value)
    if isinstance(value, DateTime):
        return value.time
    if isinstance(value, Date):
        return Time(0, 0)
    if isinstance(value, Time):
        return value
    raise IllegalArguments


def time_of_parts(run: Run, hour: Any, minute: Any, second: Any, offset: Any = None) -> Any:
    """A time from its parts. The second may have a fraction. If the offset is null, the time is local."""
    parts = whole(hour), whole(minute), whole(second)
    if offset is not None and not isinstance(offset, DayTimeDuration):
        raise IllegalArguments
    run.spend(_PARSING_STEPS)
    nano = int(run.math.multiply(number(second) - parts[2], NANOS_PER_SECOND))
    try:
        return Time.of(*parts, nano, None if offset is None else offset.nanos // NANOS_PER_SECOND)
    except TemporalError:
        text = f"hour={hour}, minute={minute}, second={second}"
        if offset is None:
            raise FunctionFailure(f"Failed to parse local-time from: {text}") from None
        raise FunctionFailure(f"Failed to parse time from: {text}, offset={offset}") from None


def date_time_from(run: Run, value: Any) -> Any:
    text = string(run, value)
    return _parsed(run, temporal.parse_date_time, _date_time_form(text), text)


def _date_time_form(text: str) -> str:
    """feel-scala's name for the form of a text that resembles a date with time."""
    if "T" not in text:
        return "date-time"
    return "date-time" if _OFFSET.search(text) else "local-date-time"


def date_time_of_parts(run: Run, date: Any, time: Any) -> Any:
    """A date with time from a date and a time, or from a date with time and the time zone to convert it to."""
    if type(time) is str:
        return _in_zone(run, date, time)
    if not isinstance(time, Time):
        raise IllegalArguments
    run.spend(_PARSING_STEPS)
    day = date_of(date)
    if time.zone is not None:
        return DateTime.in_zone(day, time.nanos, time.zone)
    return DateTime(day, time.nanos, time.offset)


def _in_zone(run: Run, value: Any, zone: str) -> DateTime:
    """A local value gets the zone. A zoned value becomes the same instant in the zone."""
    if not isinstance(value, DateTime):
        raise IllegalArguments
    run.spend(_PARSING_STEPS)
    try:
        if value.is_local:
            return DateTime.in_zone(value.date, value.nanos, zone)
        return temporal.with_zone_same_instant(value, zone)
    except temporal.UnknownZone as e:
        raise FunctionFailure(str(e)[: run.limits.message_size]) from None


def number_from(run: Run, text: Any) -> Any:
    return _parse_number(run, string(run, text))


def _parse_number(run: Run, text: str) -> int | Decimal:
    if _NUMBER.fullmatch(text) is None:
        raise FunctionFailure(f"Can't parse '{text[: run.limits.message_size]}' as a number")
    run.spend(15)
    result = run.math.plus(Decimal(text))
    return int(result) if result.as_tuple().exponent == 0 else result


def number_grouped(run: Run, text: Any, grouping: Any) -> Any:
    """The number of a text with a grouping separator."""
    source, separator = string(run, text), string(run, grouping)
    if separator not in _GROUPING:
        raise FunctionFailure("illegal argument for grouping. Must be one of ' ', ',' or '.'")
    return _parse_number(run, source.replace(separator, ""))


def number_separated(run: Run, text: Any, grouping: Any, decimal: Any) -> Any:
    """The number of a text with a grouping and a decimal separator, one of which may be null."""
    source = string(run, text)
    if grouping is None and decimal is None:
        raise IllegalArguments
    separators = [string(run, separator) for separator in (grouping, decimal) if separator is not None]
    if grouping not in (*_GROUPING, None) or decimal not in (*_DECIMAL, None) or len(set(separators)) < len(separators):
        raise FunctionFailure(
            "illegal arguments for grouping or decimal. Must be one of ' ' (grouping only), ',' or '.'"
        )
    return _parse_number(run, source.replace(grouping or "", "").replace(decimal or ".", "."))


def string_of(run: Run, value: Any) -> Any:
    """Null for null, the string itself for a string, the text of any other value."""
    if value is None or type(value) is str:
        return value
    return text_of(run, value)


def duration_from(run: Run, value: Any) -> Any:
    text = string(run, value)
    return _parsed(run, temporal.parse_duration, _duration_form(text), text)


def _duration_form(text: str) -> str:
    return "year-month-duration" if _YEAR_MONTH.fullmatch(text) else "duration"


def months_between(run: Run, start: Any, end: Any) -> Any:
    """The whole months between two dates. For dates with time, the dates count."""
    run.spend(10)
    return temporal.months_between(date_of(start), date_of(end))


_CLOCK = ("hour", "minute", "second")

FUNCTIONS = {
    "date": (Overload(("from",), date_from), Overload(("year", "month", "day"), date_of_parts)),
    "time": (
        Overload(("from",), time_from),
        Overload(_CLOCK, time_of_parts),
        Overload((*_CLOCK, "offset"), time_of_parts),
    ),
    "date and time": (
        Overload(("from",), date_time_from),
        Overload(("date", "time"), date_time_of_parts),
        Overload(("date", "timezone"), date_time_of_parts),
    ),
    "number": (
        Overload(("from",), number_from),
        Overload(("from", "grouping separator"), number_grouped),
        Overload(("from", "grouping separator", "decimal separator"), number_separated),
    ),
    "string": (Overload(("from",), string_of),),
    "duration": (Overload(("from",), duration_from),),
    "years and months duration": (Overload(("from", "to"), months_between),),
}
