"""The temporal values of FEEL: immutable, comparable, hashable (DMN 1.5, 10.3.2.3.4 to 10.3.2.3.9).

They reach further than `datetime`: years to ±999,999,999, nanoseconds, local and zoned values of one class.
`==` is FEEL's `=`: zoned values are equal where they are the same instant, a local and a zoned value never are. `<` and
its like are for values of one kind (`same_kind`). `str()` is what `string()` gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from engine.feel.temporal import calendar, zones
from engine.feel.temporal.calendar import (
    MAX_YEAR,
    MIN_YEAR,
    NANOS_PER_DAY,
    NANOS_PER_MILLI,
    NANOS_PER_SECOND,
    TemporalError,
)

MAX_MONTHS = 2_147_483_647 * 12 + 11  # what java.time.Period can hold after it was normalised
MAX_SECONDS = 9_223_372_036_854_775_807  # what java.time.Duration can hold


def _check(ok: bool, what: str) -> None:
    if not ok:
        raise TemporalError(what)


@total_ordering
class _Ordered:
    """Equality, order and hash by `key()`, for values of one class."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The type of FEEL; `local …` tells a time without offset, which does not compare with one that has one."""
        raise NotImplementedError

    def key(self) -> Any:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.key() == other.key()

    def __lt__(self, other: Any) -> bool:
        if not same_kind(self, other):
            return NotImplemented
        return bool(self.key() < other.key())

    def __hash__(self) -> int:
        return hash(self.key())


@dataclass(frozen=True, slots=True, eq=False)
class Date(_Ordered):
    """A day of the proleptic Gregorian calendar. Raises TemporalError for one that does not exist."""

    year: int
    month: int
    day: int

    def __post_init__(self) -> None:
        _check(MIN_YEAR <= self.year <= MAX_YEAR, f"Year {self.year} is out of range")
        _check(1 <= self.month <= 12, f"There is no month {self.month}")
        _check(1 <= self.day <= calendar.month_length(self.year, self.month), f"The month has no day {self.day}")

    @classmethod
    def from_epoch_day(cls, days: int) -> Date:
        """The date `days` after 1970-01-01. Raises OverflowError beyond the years that there are."""
        year, month, day = calendar.from_epoch_day(days)
        if not MIN_YEAR <= year <= MAX_YEAR:
            raise OverflowError(f"Year {year} is out of range")
        return cls(year, month, day)

    @property
    def epoch_day(self) -> int:
        return calendar.epoch_day(self.year, self.month, self.day)

    @property
    def weekday(self) -> int:
        """Monday is 1."""
        return calendar.weekday(self.epoch_day)

    @property
    def kind(self) -> str:
        return "date"

    def key(self) -> tuple[int, int, int]:
        return self.year, self.month, self.day

    def __str__(self) -> str:
        return f"{'-' if self.year < 0 else ''}{abs(self.year):04}-{self.month:02}-{self.day:02}"


@dataclass(frozen=True, slots=True, eq=False)
class Time(_Ordered):
    """A time of day, local or at an offset. `nanos` since midnight; `offset` in seconds east of UTC, None: local.

    `zone` names the zone that the offset is the standard one of, where the time was given with a zone.
    """

    nanos: int
    offset: int | None = None
    zone: str | None = None

    def __post_init__(self) -> None:
        _check(0 <= self.nanos < NANOS_PER_DAY, "The time is not within a day")
        _check_offset(self.offset)

    @classmethod
    def of(cls, hour: int, minute: int, second: int = 0, nano: int = 0, offset: int | None = None) -> Time:
        _check(0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60, "Hour, minute or second is out of range")
        _check(0 <= nano < NANOS_PER_SECOND, "Nanoseconds are out of range")
        return cls((hour * 3600 + minute * 60 + second) * NANOS_PER_SECOND + nano, offset)

    @classmethod
    def in_zone(cls, nanos: int, zone_id: str) -> Time:
        """A time at the standard offset of a zone. Raises zones.UnknownZone."""
        offset, zone = zones.resolve_zone(zone_id)
        return cls(nanos, offset if zone is None else zones.standard_offset(zone), zone)

    @property
    def is_local(self) -> bool:
        return self.offset is None

    @property
    def kind(self) -> str:
        return "local time" if self.offset is None else "time"

    def key(self) -> tuple[bool, int]:
        return self.offset is None, self.nanos - (self.offset or 0) * NANOS_PER_SECOND

    def __str__(self) -> str:
        return format_nanos(self.nanos) + _suffix(self.offset, self.zone)


@dataclass(frozen=True, slots=True, eq=False)
class DateTime(_Ordered):
    """A date and a time of day, local or at an offset, maybe that of a zone. Fields as in `Date` and `Time`."""

    date: Date
    nanos: int
    offset: int | None = None
    zone: str | None = None

    def __post_init__(self) -> None:
        _check(0 <= self.nanos < NANOS_PER_DAY, "The time is not within a day")
        _check_offset(self.offset)

    @classmethod
    def in_zone(cls, date: Date, nanos: int, zone_id: str, preferred_offset: int | None = None) -> DateTime:
        """A local time in a zone. Raises zones.UnknownZone.

        In a gap it moves forward by the gap's length, in an overlap it takes the preferred offset where that holds,
        else the earlier one (java.time.ZonedDateTime.ofLocal).
        """
        offset, zone = zones.resolve_zone(zone_id)
        if zone is None:
            return cls(date, nanos, offset)
        before, after = zones.offsets_at_local(zone, date.epoch_day, nanos)
        if before < after:
            return cls._moved(date.epoch_day, nanos + (after - before) * NANOS_PER_SECOND, after, zone)
        return cls(date, nanos, after if preferred_offset == after else before, zone)

    @classmethod
    def at_instant(cls, epoch_nanos: int, offset: int | None, zone: str | None = None) -> DateTime:
        """The instant `epoch_nanos` after 1970-01-01T00:00Z, at an offset or in a zone (which then decides)."""
        if zone is not None:
            offset = zones.offset_at_instant(zone, epoch_nanos // NANOS_PER_SECOND)
        return cls._moved(0, epoch_nanos + (offset or 0) * NANOS_PER_SECOND, offset, zone)

    @classmethod
    def _moved(cls, day: int, nanos: int, offset: int | None, zone: str | None) -> DateTime:
        days, nanos = divmod(nanos, NANOS_PER_DAY)
        return cls(Date.from_epoch_day(day + days), nanos, offset, zone)

    @property
    def is_local(self) -> bool:
        return self.offset is None

    @property
    def local_nanos(self) -> int:
        """Nanoseconds on the local time line since 1970-01-01T00:00."""
        return self.date.epoch_day * NANOS_PER_DAY + self.nanos

    @property
    def epoch_nanos(self) -> int:
        """Nanoseconds since 1970-01-01T00:00Z; a local value counts as UTC."""
        return self.local_nanos - (self.offset or 0) * NANOS_PER_SECOND

    @property
    def epoch_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00Z, rounded down; a local value counts as UTC."""
        return self.epoch_nanos // NANOS_PER_MILLI

    @property
    def time(self) -> Time:
        return Time(self.nanos, self.offset, self.zone)

    @property
    def kind(self) -> str:
        return "local date and time" if self.offset is None else "date and time"

    def key(self) -> tuple[bool, int]:
        return self.offset is None, self.epoch_nanos

    def __str__(self) -> str:
        return f"{self.date}T{format_nanos(self.nanos)}{_suffix(self.offset, self.zone)}"


@dataclass(frozen=True, slots=True, eq=False)
class YearMonthDuration(_Ordered):
    """A whole number of months. Raises OverflowError beyond what java.time.Period holds."""

    months: int

    def __post_init__(self) -> None:
        if abs(self.months) > MAX_MONTHS:
            raise OverflowError("The duration is too long")

    @property
    def kind(self) -> str:
        return "years and months duration"

    def key(self) -> int:
        return self.months

    def __str__(self) -> str:
        years, months = divmod(abs(self.months), 12)
        text = (f"{years}Y" if years else "") + (f"{months}M" if months else "")
        return f"{'-' if self.months < 0 else ''}P{text or '0Y'}"


@dataclass(frozen=True, slots=True, eq=False)
class DayTimeDuration(_Ordered):
    """A length of time in nanoseconds; a day is 24 hours. Raises OverflowError beyond what java.time.Duration holds."""

    nanos: int

    def __post_init__(self) -> None:
        if abs(self.nanos) > MAX_SECONDS * NANOS_PER_SECOND:
            raise OverflowError("The duration is too long")

    @classmethod
    def of_seconds(cls, seconds: int) -> DayTimeDuration:
        return cls(seconds * NANOS_PER_SECOND)

    @property
    def kind(self) -> str:
        return "days and time duration"

    def key(self) -> int:
        return self.nanos

    def __str__(self) -> str:
        days, rest = divmod(abs(self.nanos), NANOS_PER_DAY)
        seconds, nanos = divmod(rest, NANOS_PER_SECOND)
        hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
        second = f"{seconds}{format_fraction(nanos)}S" if seconds or nanos else ""
        time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") + second
        text = (f"{days}D" if days else "") + (f"T{time}" if time else "")
        return f"{'-' if self.nanos < 0 else ''}P{text or '0D'}"


Temporal = Date | Time | DateTime | YearMonthDuration | DayTimeDuration
TEMPORAL_TYPES = (Date, Time, DateTime, YearMonthDuration, DayTimeDuration)


def same_kind(a: Any, b: Any) -> bool:
    """True for two temporals of one FEEL type. Local and zoned times (or dates with time) are different types."""
    return type(a) is type(b) and bool(a.kind == b.kind)


def identical(a: Any, b: Any) -> bool:
    """DMN's `is()` for two temporals: the same in every field, not only the same instant."""
    return type(a) is type(b) and all(getattr(a, name) == getattr(b, name) for name in a.__slots__)


def format_fraction(nanos: int) -> str:
    """`.5` of half a second, nothing of none."""
    return f".{nanos:09}".rstrip("0") if nanos else ""


def format_nanos(nanos: int) -> str:
    """`10:30:00.5` of nanoseconds since midnight: always with seconds, a fraction only where there is one."""
    seconds, fraction = divmod(nanos, NANOS_PER_SECOND)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{format_fraction(fraction)}"


def iso_format(value: Temporal) -> str:
    """ISO 8601 as java.time writes it and variables carry it: like `str()`, but a zone in brackets."""
    if isinstance(value, DateTime | Time) and value.zone is not None:
        local = f"{value.date}T" if isinstance(value, DateTime) else ""
        return f"{local}{format_nanos(value.nanos)}{zones.format_offset(value.offset or 0)}[{value.zone}]"
    return str(value)


def _check_offset(offset: int | None) -> None:
    _check(offset is None or abs(offset) <= zones.MAX_OFFSET_S, f"The offset of {offset} s exceeds 18 hours")


def _suffix(offset: int | None, zone: str | None) -> str:
    if zone is not None:
        return f"@{zone}"
    return "" if offset is None else zones.format_offset(offset)
