"""Durations, and the equality and order of all temporal values (DMN 1.5, 10.3.2.3.7 and 10.3.2.3.8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vivero.core.feel.temporal.calendar import NANOS_PER_DAY, NANOS_PER_SECOND, truncated_divmod

MAX_MONTHS = 2_147_483_647 * 12 + 11  # the most that a normalised java.time.Period holds
MAX_SECONDS = 9_223_372_036_854_775_807  # the most that java.time.Duration holds


class Ordered:
    """Equality, order and hash by `key()`, for values of one class."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The FEEL type. `local …` marks a time without an offset, which does not compare with a time that has one."""
        raise NotImplementedError

    def key(self) -> Any:
        """The key of equality, order and hash."""
        raise NotImplementedError

    def properties(self) -> dict[str, Any]:
        """The properties that a path such as `date.year` reads (DMN 1.5, table 65), in the order of warnings."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.key() == other.key()

    def __lt__(self, other: Any) -> bool:
        return bool(self.key() < other.key()) if same_kind(self, other) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return bool(self.key() <= other.key()) if same_kind(self, other) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return bool(self.key() > other.key()) if same_kind(self, other) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return bool(self.key() >= other.key()) if same_kind(self, other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key())


@dataclass(frozen=True, slots=True, eq=False)
class YearMonthDuration(Ordered):
    """A whole number of months. Raises OverflowError beyond the range of java.time.Period."""

    months: int

    def __post_init__(self) -> None:
        if abs(self.months) > MAX_MONTHS:
            raise OverflowError("The duration is too long")

    @property
    def kind(self) -> str:
        return "years and months duration"

    def key(self) -> int:
        return self.months

    def properties(self) -> dict[str, Any]:
        years, months = truncated_divmod(self.months, 12)
        return {"years": years, "months": months}

    def __str__(self) -> str:
        years, months = divmod(abs(self.months), 12)
        text = (f"{years}Y" if years else "") + (f"{months}M" if months else "")
        return f"{'-' if self.months < 0 else ''}P{text or '0Y'}"


@dataclass(frozen=True, slots=True, eq=False)
class DayTimeDuration(Ordered):
    """A time in nanoseconds; a day has 24 hours. Raises OverflowError beyond the range of java.time.Duration."""

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

    def properties(self) -> dict[str, Any]:
        """Days, hours, minutes and whole seconds, all with the duration's sign."""
        whole, _ = truncated_divmod(self.nanos, NANOS_PER_SECOND)
        minutes, seconds = truncated_divmod(whole, 60)
        hours, minute = truncated_divmod(minutes, 60)
        days, hour = truncated_divmod(hours, 24)
        return {"days": days, "hours": hour, "minutes": minute, "seconds": seconds}

    def __str__(self) -> str:
        days, rest = divmod(abs(self.nanos), NANOS_PER_DAY)
        seconds, nanos = divmod(rest, NANOS_PER_SECOND)
        hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
        second = f"{seconds}{format_fraction(nanos)}S" if seconds or nanos else ""
        time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") + second
        text = (f"{days}D" if days else "") + (f"T{time}" if time else "")
        return f"{'-' if self.nanos < 0 else ''}P{text or '0D'}"


def same_kind(a: Any, b: Any) -> bool:
    """True for two temporals of one FEEL type. Local and zoned values are different types."""
    return type(a) is type(b) and bool(a.kind == b.kind)


def format_fraction(nanos: int) -> str:
    """`.5` for half a second, an empty text for 0."""
    return f".{nanos:09}".rstrip("0") if nanos else ""
