"""Text to temporal values: FEEL's ISO 8601 forms, as java.time parses them (strict calendar).

Each function raises TemporalError for a text of another form. In addition to ISO 8601, a time may start with `T`, and
a zone may follow after `@` (`10:30:00@Europe/Berlin`) or, after an offset, in brackets. `24:00:00` is the midnight at
the end of the day.
"""

from __future__ import annotations

import re

from vivero.core.feel.temporal import zones
from vivero.core.feel.temporal.calendar import NANOS_PER_DAY, NANOS_PER_SECOND, TemporalError
from vivero.core.feel.temporal.durations import DayTimeDuration, YearMonthDuration
from vivero.core.feel.temporal.types import Date, DateTime, Temporal, Time

_DATE = r"(-?(?:[1-9]\d{0,4})?\d{4})-(\d\d)-(\d\d)"
_SECONDS = r"(?::(\d\d)(?:\.(\d{1,9}))?)"
_TIME = rf"(\d\d):(\d\d){_SECONDS}"
_OFFSET = r"([+-]\d\d:\d\d|Z)"

_DATE_PATTERN = re.compile(_DATE, re.ASCII)
_LOCAL_TIME = re.compile(rf"T?{_TIME}?", re.ASCII)
_ZONED_TIME = re.compile(rf"T?{_TIME}(?:{_OFFSET}|@(.+))", re.ASCII)
_LOCAL_DATE_TIME = re.compile(rf"{_DATE}T{_TIME}?", re.ASCII)
_ZONED_DATE_TIME = re.compile(rf"{_DATE}T{_TIME}?(?:{_OFFSET}(?:\[(.+)\])?|@(.+))", re.ASCII)
_MONTHS = re.compile(r"(-?)P(?:(-?\d{1,10})Y)?(?:(-?\d{1,11})M)?", re.ASCII)
_DAYS = re.compile(
    r"(-?)P(?:(-?\d{1,20})D)?"
    r"(?:T(?:(-?\d{1,20})H)?(?:(-?\d{1,20})M)?(?:(-?)(\d{1,20})(?:\.(\d{0,9}))?S)?)?",
    re.ASCII,
)


def parse_date(text: str) -> Date:
    """`2026-11-21`, `-0044-03-15`, `999999999-12-31`."""
    match = _DATE_PATTERN.fullmatch(text)
    if match is None:
        raise TemporalError(f"Failed to parse date from '{text}'")
    return _date(match[1], match[2], match[3])


def parse_time(text: str) -> Time:
    """`10:30`, `10:30:00.5`, `T10:30:00`, `10:30:00Z`, `10:30:00+01:00`, `10:30:00@Europe/Berlin`."""
    match = _LOCAL_TIME.fullmatch(text)
    if match is not None:
        return Time(_nanos(*match.groups()) % NANOS_PER_DAY)
    match = _ZONED_TIME.fullmatch(text)
    if match is None:
        raise TemporalError(f"Failed to parse time from '{text}'")
    *clock, offset, zone = match.groups()
    nanos = _nanos(*clock) % NANOS_PER_DAY
    return Time(nanos, _offset(offset)) if zone is None else Time.in_zone(nanos, zone)


def parse_date_time(text: str) -> DateTime:
    """`2026-11-21T10:30`, alone or with `Z`, `+01:00`, `+01:00[Europe/Berlin]` or `@Europe/Berlin`; or just a date."""
    if _DATE_PATTERN.fullmatch(text):
        return DateTime(parse_date(text), 0)
    local = _LOCAL_DATE_TIME.fullmatch(text)
    match = local or _ZONED_DATE_TIME.fullmatch(text)
    if match is None:
        raise TemporalError(f"Failed to parse date-time from '{text}'")
    year, month, day, hour, minute, second, fraction = match.groups()[:7]
    date, nanos = _date(year, month, day), _nanos(hour, minute, second, fraction)
    if nanos == NANOS_PER_DAY:
        date, nanos = Date.from_epoch_day(date.epoch_day + 1), 0
    return DateTime(date, nanos) if local else _zoned(date, nanos, *match.groups()[7:])


def _zoned(date: Date, nanos: int, offset: str | None, bracketed: str | None, zone: str | None) -> DateTime:
    if offset is None:
        assert zone is not None
        return DateTime.in_zone(date, nanos, zone)
    at_offset = DateTime(date, nanos, _offset(offset))
    return at_offset if bracketed is None else with_zone_same_instant(at_offset, bracketed)


def with_zone_same_instant(value: DateTime, zone_id: str) -> DateTime:
    """The same instant in another zone. Raises zones.UnknownZone."""
    offset, zone = zones.resolve_zone(zone_id)
    return DateTime.at_instant(value.epoch_nanos, offset, zone)


def parse_duration(text: str) -> YearMonthDuration | DayTimeDuration:
    """`P1Y2M` or `P1DT2H3M4.5S`. A sign may precede `P` and each number. Raises TemporalError."""
    try:
        return _months(text) or _days(text)
    except OverflowError as e:
        raise TemporalError(f"Failed to parse duration from '{text}': {e}") from None


def parse_year_month_duration(text: str) -> YearMonthDuration:
    duration = parse_duration(text)
    if not isinstance(duration, YearMonthDuration):
        raise TemporalError(f"Failed to parse year-month-duration from '{text}'")
    return duration


def parse_day_time_duration(text: str) -> DayTimeDuration:
    duration = parse_duration(text)
    if not isinstance(duration, DayTimeDuration):
        raise TemporalError(f"Failed to parse day-time-duration from '{text}'")
    return duration


def parse_temporal(text: str) -> Temporal | None:
    """The value of `@"…"`: a date, a date with time, a time or a duration; None for any other text."""
    try:
        return _parse_any(text)
    except (TemporalError, OverflowError):
        return None


def _parse_any(text: str) -> Temporal:
    if "P" in text[:2]:
        return parse_duration(text)
    date = _DATE_PATTERN.match(text)
    if date is None:
        return parse_time(text)
    return parse_date(text) if date.end() == len(text) else parse_date_time(text)


def _months(text: str) -> YearMonthDuration | None:
    match = _MONTHS.fullmatch(text)
    if match is None or match[2] is match[3] is None:
        return None
    months = int(match[2] or 0) * 12 + int(match[3] or 0)
    return YearMonthDuration(-months if match[1] else months)


def _days(text: str) -> DayTimeDuration:
    match = _DAYS.fullmatch(text)
    if match is None or text[-1] in "PT":
        raise TemporalError(f"Failed to parse duration from '{text}'")
    sign, days, hours, minutes, second_sign, seconds, fraction = match.groups()
    second = int(seconds or 0) * NANOS_PER_SECOND + _fraction(fraction)
    minute = int(days or 0) * 1440 + int(hours or 0) * 60 + int(minutes or 0)
    nanos = minute * 60 * NANOS_PER_SECOND + (-second if second_sign else second)
    return DayTimeDuration(-nanos if sign else nanos)


def _date(year: str, month: str, day: str) -> Date:
    if year == "-0000":
        raise TemporalError("There is no year -0000")
    return Date(int(year), int(month), int(day))


def _nanos(hour: str, minute: str, second: str | None, fraction: str | None) -> int:
    """Nanoseconds since midnight; a whole day for 24:00:00."""
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    nanos = ((hours * 60 + minutes) * 60 + seconds) * NANOS_PER_SECOND + _fraction(fraction)
    if minutes > 59 or seconds > 59 or nanos > NANOS_PER_DAY:
        raise TemporalError(f"There is no time {hour}:{minute}:{second or '00'}")
    return nanos


def _fraction(digits: str | None) -> int:
    return int((digits or "").ljust(9, "0"))


def _offset(text: str) -> int:
    offset = zones.parse_offset(text)
    if offset is None:
        raise TemporalError(f"There is no offset {text}")
    return offset
