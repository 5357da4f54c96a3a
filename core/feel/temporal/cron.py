"""Cron expressions of six fields, seconds first, as Spring's CronExpression and therefore Camunda 8 read them.

    second minute hour day-of-month month day-of-week

Fields take `*`, numbers, ranges `a-b`, steps `/n` and lists. Months and days of the week have names (`JAN`, `MON`);
Sunday is 0 and 7. A day must fit both day fields. Day of month: `?`, `L` (the last), `L-3`, `LW` (the last weekday),
`15W` (the weekday nearest to the 15th, within the month). Day of week: `?`, `5L` or `FRIL` (the last Friday of the
month), `MON#2` (the second Monday). `@yearly`, `@monthly`, `@weekly`, `@daily` and `@hourly` are valid, too.

Times are local times of a zone. If clocks go forward, a time in the gap moves after it. If clocks go back, a time in
the overlap occurs once, unless the expression allows every hour: then it occurs in both passes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from vivero.core.feel.temporal import zones
from vivero.core.feel.temporal.calendar import (
    YEARS_PER_CYCLE,
    TemporalError,
    epoch_day,
    from_epoch_day,
    month_length,
    weekday,
)

DAY_S = 86_400
LAST_YEAR = 9999

MACROS = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_NO_NAMES: tuple[str, ...] = ()

DayRule = Callable[[int, int, int], bool]
"""(year, month, day of the month) → whether the day fits."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression. The numbers of each field are sorted. A day fits if a rule of each kind allows it."""

    text: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: frozenset[int]
    days: tuple[DayRule, ...]
    weekdays: tuple[DayRule, ...]

    @property
    def ticks_per_day(self) -> int:
        """The number of times on a day that fits and on which clocks do not change."""
        return len(self.seconds) * len(self.minutes) * len(self.hours)

    def after(self, epoch_ms: int, zone_id: str = "Z") -> int | None:
        """The first time after `epoch_ms`, in epoch milliseconds; None if there is none before the year 10000."""
        second = epoch_ms // 1000
        if len(self.hours) == 24:
            found = self._next_in_continuous_time(second, zone_id)
            if found is not None:
                return found * 1000
        for local in self._local_after(second + _offset_at(zone_id, second)):
            found = _instant(local, zone_id)
            if found > second:
                return found * 1000
        return None

    def latest(self, count: int, after_ms: int, until_ms: int, zone_id: str = "Z") -> int | None:
        """The first of the last `count` times that are after `after_ms` and not after `until_ms`; None without any.

        A day on which clocks change counts with the usual number of times.
        """
        first = self.after(after_ms, zone_id)
        if first is None or first > until_ms:
            return None
        local = until_ms // 1000 + _offset_at(zone_id, until_ms // 1000)
        day, seen = local // DAY_S, self._ticks_until(local % DAY_S) if self._fits(local // DAY_S) else 0
        first_day = (first // 1000 + _offset_at(zone_id, first // 1000)) // DAY_S
        while seen < count and day > first_day:
            day -= 1
            seen += self.ticks_per_day if self._fits(day) else 0
        if day <= first_day and seen <= count:
            return first
        found = _instant(day * DAY_S + self._tick(max(seen - count, 0)), zone_id) * 1000
        return max(found, first)

    def _next_in_continuous_time(self, second: int, zone_id: str) -> int | None:
        """The next time if every hour is allowed: the offset before a change of clocks is right for times after it."""
        offset = _offset_at(zone_id, second)
        local = next(self._local_after(second + offset), None)
        if local is None:
            return None
        found = local - offset
        there = _offset_at(zone_id, found)
        return found if there == offset or self._fits_second(found + there) else None

    def _fits_second(self, local: int) -> bool:
        day, second = divmod(local, DAY_S)
        return second % 60 in self.seconds and second // 60 % 60 in self.minutes and self._fits(day)

    def _local_after(self, local: int) -> Iterator[int]:
        """Yield the local times that fit and are after `local`, as seconds since 1970."""
        day, second = divmod(local, DAY_S)
        if self._fits(day):
            index = self._ticks_until(second)
            yield from (day * DAY_S + self._tick(i) for i in range(index, self.ticks_per_day))
        while (following := self._day_after(day)) is not None:
            day = following
            yield from (day * DAY_S + self._tick(i) for i in range(self.ticks_per_day))

    def _tick(self, index: int) -> int:
        """The second of the day at which the tick with this number occurs."""
        rest, second = divmod(index, len(self.seconds))
        hour, minute = divmod(rest, len(self.minutes))
        return self.hours[hour] * 3600 + self.minutes[minute] * 60 + self.seconds[second]

    def _ticks_until(self, second: int) -> int:
        """The number of ticks of a day up to this second, inclusive."""
        hour, minute, second = second // 3600, second // 60 % 60, second % 60
        per_minute, per_hour = len(self.seconds), len(self.seconds) * len(self.minutes)
        count = bisect_left(self.hours, hour) * per_hour
        if hour in self.hours:
            count += bisect_left(self.minutes, minute) * per_minute
            if minute in self.minutes:
                count += bisect_left(self.seconds, second + 1)
        return count

    def _fits(self, day: int) -> bool:
        year, month, number = from_epoch_day(day)
        return month in self.months and self._day_fits(year, month, number)

    def _day_fits(self, year: int, month: int, day: int) -> bool:
        return any(rule(year, month, day) for rule in self.days) and any(
            rule(year, month, day) for rule in self.weekdays
        )

    def _day_after(self, day: int) -> int | None:
        """The next day that fits. The search skips whole months that do not fit."""
        year, month, number = from_epoch_day(day + 1)
        last_year = min(year + YEARS_PER_CYCLE, LAST_YEAR)
        while year <= last_year:
            if month in self.months:
                for candidate in range(number, month_length(year, month) + 1):
                    if self._day_fits(year, month, candidate):
                        return epoch_day(year, month, candidate)
            year, month, number = (year, month + 1, 1) if month < 12 else (year + 1, 1, 1)
        return None


def _offset_at(zone_id: str, second: int) -> int:
    offset, zone = zones.resolve_zone(zone_id)
    return offset or 0 if zone is None else zones.offset_at_instant(zone, second)


def _instant(local: int, zone_id: str) -> int:
    """The instant of a local time: the first of two in an overlap; in a gap, the time moves forward by the gap."""
    offset, zone = zones.resolve_zone(zone_id)
    if zone is not None:
        day, second = divmod(local, DAY_S)
        offset = zones.offsets_at_local(zone, day, second * 1_000_000_000)[0]
    return local - (offset or 0)


# ------------------------------------------------------------------------------------------------------- parsing


@lru_cache(maxsize=1024)
def parse_cron(text: str) -> Cron:
    """Parse an expression.

    Raises:
        TemporalError: the text is invalid, or no time fits it (`0 0 0 30 2 *`). The message names the field.
    """
    fields = MACROS.get(text, text).upper().split()
    if len(fields) != 6:
        raise TemporalError(f"'{text}' has {len(fields)} fields, but a cron expression has six fields, seconds first")
    second, minute, hour, day, month, day_of_week = fields
    cron = Cron(
        text,
        _numbers(second, "second", 0, 59),
        _numbers(minute, "minute", 0, 59),
        _numbers(hour, "hour", 0, 23),
        frozenset(_numbers(month, "month", 1, 12, _MONTHS)),
        tuple(_day_rule(part) for part in day.split(",")),
        tuple(_weekday_rule(part) for part in day_of_week.split(",")),
    )
    if cron._day_after(0) is None:
        raise TemporalError(f"the cron expression '{text}' never happens")
    return cron


_PART = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d{1,9}))?", re.ASCII)
_DIGITS = re.compile(r"\d{1,9}", re.ASCII)
_LAST_DAY = re.compile(r"L(?:-(\d{1,2}))?", re.ASCII)
_NEAREST = re.compile(r"(\d{1,2})W", re.ASCII)
_LAST_WEEKDAY = re.compile(r"(\d|[A-Z]{3})L", re.ASCII)
_NTH_WEEKDAY = re.compile(r"(\d|[A-Z]{3})#([1-5])", re.ASCII)


def _numbers(field: str, unit: str, low: int, high: int, names: tuple[str, ...] = _NO_NAMES) -> tuple[int, ...]:
    return tuple(sorted({number for part in field.split(",") for number in _range(part, unit, low, high, names)}))


def _range(part: str, unit: str, low: int, high: int, names: tuple[str, ...]) -> range:
    match = _PART.fullmatch(part)
    if match is None or (match[1] == "*" and match[2]):
        raise TemporalError(f"'{part}' is not a valid {unit} of a cron expression")
    begin, end, step = match.groups()
    if begin == "*":
        first, last = low, high
    else:
        first = _number(begin, unit, low, high, names)
        last = _number(end, unit, low, high, names) if end else (high if step else first)
    if first > last:
        raise TemporalError(f"'{part}': a range in the {unit} of a cron expression must not go backwards")
    if step is not None and int(step) == 0:
        raise TemporalError(f"'{part}': the step of a cron expression must not be 0")
    return range(first, last + 1, int(step or 1))


def _number(text: str, unit: str, low: int, high: int, names: tuple[str, ...]) -> int:
    if text in names:
        return names.index(text) + 1
    if not _DIGITS.fullmatch(text) or not low <= int(text) <= high:
        raise TemporalError(f"'{text}' is not a valid {unit} of a cron expression ({low}-{high})")
    return int(text)


def _day_rule(part: str) -> DayRule:
    if part == "?":
        return lambda _year, _month, _day: True
    if part == "LW":
        return lambda year, month, day: day == _nearest_weekday(year, month, month_length(year, month))
    if last := _LAST_DAY.fullmatch(part):
        back = int(last[1] or 0)
        if back > 30:
            raise TemporalError(f"'{part}': no month has {back + 1} days")
        return lambda year, month, day: day == month_length(year, month) - back
    if nearest := _NEAREST.fullmatch(part):
        wanted = _number(nearest[1], "day", 1, 31, _NO_NAMES)
        return lambda year, month, day: (
            wanted <= month_length(year, month) and day == _nearest_weekday(year, month, wanted)
        )
    numbers = frozenset(_range(part, "day", 1, 31, _NO_NAMES))
    return lambda _year, _month, day: day in numbers


def _weekday_rule(part: str) -> DayRule:
    if part == "?":
        return lambda _year, _month, _day: True
    if last := _LAST_WEEKDAY.fullmatch(part):
        wanted = _weekday_number(last[1])
        return lambda year, month, day: (
            weekday(epoch_day(year, month, day)) == wanted and day + 7 > month_length(year, month)
        )
    if nth := _NTH_WEEKDAY.fullmatch(part):
        wanted, place = _weekday_number(nth[1]), int(nth[2])
        return lambda year, month, day: weekday(epoch_day(year, month, day)) == wanted and (day + 6) // 7 == place
    numbers = frozenset((number - 1) % 7 + 1 for number in _weekday_range(part))
    if len(numbers) == 7:
        return lambda _year, _month, _day: True
    return lambda year, month, day: weekday(epoch_day(year, month, day)) in numbers


def _weekday_range(part: str) -> range:
    """The days of a range. Sunday is 0 at the start of a range and 7 at its end."""
    if part.startswith("SUN-"):
        part = "0" + part[3:]
    return _range(part, "day of the week", 0, 7, _WEEKDAYS) if part != "*" else range(7)


def _weekday_number(text: str) -> int:
    return (_number(text, "day of the week", 0, 7, _WEEKDAYS) - 1) % 7 + 1


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """The nearest weekday: Friday for a Saturday, Monday for a Sunday, but never in another month."""
    number = weekday(epoch_day(year, month, day))
    if number == 6:
        return day - 1 if day > 1 else 3
    if number == 7:
        return day + 1 if day < month_length(year, month) else day - 2
    return day
