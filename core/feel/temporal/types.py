"""The temporal values of FEEL: immutable, comparable, hashable (DMN 1.5, 10.3.2.3.4 to 10.3.2.3.9).

Unlike `datetime`, they have years up to ±999,999,999, nanoseconds, and one class for local and zoned values. `==` is
FEEL's `=`: dates with time are equal if they are the same instant; a local and a zoned value never are. `<`, `<=`, `>`
and `>=` compare values of one kind (`same_kind`). `str()` gives the text of `string()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vivero.core.feel.temporal import calendar, zones
from vivero.core.feel.temporal.calendar import (
    MAX_YEAR,
    MIN_YEAR,
    NANOS_PER_DAY,
    NANOS_PER_MILLI,
    NANOS_PER_SECOND,
    TemporalError,
)
from vivero.core.feel.temporal.durations import DayTimeDuration, Ordered, YearMonthDuration, format_fraction


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise TemporalError(message)


@dataclass(frozen=True, slots=True, eq=False)
class Date(Ordered):
    """A day of the proleptic Gregorian calendar. Raises TemporalError for a day that does not exist."""

    year: int
    month: int
    day: int

    def __post_init__(self) -> None:
        _require(MIN_YEAR <= self.year <= MAX_YEAR, "The year is out of range")
        _require(1 <= self.month <= 12, "There is no such month")
        _require(1 <= self.day <= calendar.month_length(self.year, self.month), "The month has no such day")

    @classmethod
    def from_epoch_day(cls, days: int) -> Date:
        """The date `days` after 1970-01-01. Raises OverflowError beyond ±999,999,999 years."""
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

    def properties(self) -> dict[str, Any]:
        return {"year": self.year, "month": self.month, "day": self.day, "weekday": self.weekday}

    def __str__(self) -> str:
        return f"{'-' if self.year < 0 else ''}{abs(self.year):04}-{self.month:02}-{self.day:02}"


@dataclass(frozen=True, slots=True, eq=False)
class Time(Ordered):
    """A time of day, local or at an offset. `nanos` since midnight; `offset` in seconds east of UTC, None: local.

    `zone` is the zone of a time that was given with one. `offset` is then the zone's standard offset.
    """

    nanos: int
    offset: int | None = None
    zone: str | None = None

    def __post_init__(self) -> None:
        _require(0 <= self.nanos < NANOS_PER_DAY, "The time is not within a day")
        _check_offset(self.offset)

    @classmethod
    def of(cls, hour: int, minute: int, second: int = 0, nano: int = 0, offset: int | None = None) -> Time:
        _require(0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60, "Hour, minute or second is out of range")
        _require(0 <= nano < NANOS_PER_SECOND, "Nanoseconds are out of range")
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

    def __eq__(self, other: object) -> bool:
        """Times at different offsets are never equal (feel-scala), even if neither is earlier."""
        return type(other) is Time and (self.nanos, self.offset) == (other.nanos, other.offset)

    def __hash__(self) -> int:
        return hash((self.nanos, self.offset))

    def properties(self) -> dict[str, Any]:
        hour, minute, second = _clock(self.nanos)
        offset = _offset_duration(self.offset)
        return {"timezone": self.zone, "second": second, "time offset": offset, "minute": minute, "hour": hour}

    def __str__(self) -> str:
        return format_nanos(self.nanos) + _suffix(self.offset, self.zone)


@dataclass(frozen=True, slots=True, eq=False)
class DateTime(Ordered):
    """A date and a time of day, local or at an offset, which may be that of a zone. Fields as in `Date` and `Time`."""

    date: Date
    nanos: int
    offset: int | None = None
    zone: str | None = None

    def __post_init__(self) -> None:
        _require(0 <= self.nanos < NANOS_PER_DAY, "The time is not within a day")
        _check_offset(self.offset)

    @classmethod
    def in_zone(cls, date: Date, nanos: int, zone_id: str, preferred_offset: int | None = None) -> DateTime:
        """A local time in a zone. Raises zones.UnknownZone.

        In a gap, the time moves forward by the gap's length. In an overlap, it takes the preferred offset if that is
        valid, otherwise the earlier one (java.time.ZonedDateTime.ofLocal).
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
        """The instant `epoch_nanos` after 1970-01-01T00:00Z, at an offset, or in a zone, which then sets the offset."""
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

    def properties(self) -> dict[str, Any]:
        hour, minute, second = _clock(self.nanos)
        return {
            "timezone": self.zone,
            "year": self.date.year,
            "second": second,
            "month": self.date.month,
            "day": self.date.day,
            "time offset": _offset_duration(self.offset),
            "weekday": self.date.weekday,
            "minute": minute,
            "hour": hour,
        }

    def __str__(self) -> str:
        return f"{self.date}T{format_nanos(self.nanos)}{_suffix(self.offset, self.zone)}"


Temporal = Date | Time | DateTime | YearMonthDuration | DayTimeDuration
TEMPORAL_TYPES = (Date, Time, DateTime, YearMonthDuration, DayTimeDuration)


def identical(a: Any, b: Any) -> bool:
    """DMN's `is()` for two temporals: all fields are equal, not only the instant."""
    return type(a) is type(b) and all(getattr(a, name) == getattr(b, name) for name in a.__slots__)


def format_nanos(nanos: int) -> str:
    """`10:30:00.5` for nanoseconds since midnight, always with seconds, with a fraction only if it is not 0."""
    hour, minute, second = _clock(nanos)
    return f"{hour:02}:{minute:02}:{second:02}{format_fraction(nanos % NANOS_PER_SECOND)}"


def iso_format(value: Temporal) -> str:
    """ISO 8601 as in java.time and in variables: like `str()`, but with the zone in brackets."""
    if isinstance(value, DateTime | Time) and value.zone is not None:
        local = f"{value.date}T" if isinstance(value, DateTime) else ""
        return f"{local}{format_nanos(value.nanos)}{zones.format_offset(value.offset or 0)}[{value.zone}]"
    return str(value)


def _clock(nanos: int) -> tuple[int, int, int]:
    seconds = nanos // NANOS_PER_SECOND
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def _offset_duration(offset: int | None) -> DayTimeDuration | None:
    return None if offset is None else DayTimeDuration.of_seconds(offset)


def _check_offset(offset: int | None) -> None:
    _require(offset is None or abs(offset) <= zones.MAX_OFFSET_S, "The offset exceeds 18 hours")


def _suffix(offset: int | None, zone: str | None) -> str:
    if zone is not None:
        return f"@{zone}"
    return "" if offset is None else zones.format_offset(offset)
