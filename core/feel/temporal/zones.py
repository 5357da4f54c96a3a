"""Time zones by id: the offset at a local time or at an instant, with java.time's rules for gaps and overlaps.

Zone ids are those of `java.time.ZoneId`: regions of the time zone database, `Z`, offsets (`+01:00`) and prefixed
offsets (`UTC+01:00`). Offsets are seconds east of UTC.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import datetime
from functools import lru_cache
from importlib import resources

from vivero.core.feel.temporal.calendar import (
    NANOS_PER_SECOND,
    YEARS_PER_CYCLE,
    TemporalError,
    epoch_day,
    from_epoch_day,
)

MAX_OFFSET_S = 18 * 3600

_NOT_REGIONS = frozenset({"Factory", "localtime", "posixrules"})
_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d\d)(?::?(\d\d))?)?")
_PREFIXED = re.compile(r"(UTC|GMT|UT)([+-].*)")

# A year with today's rules: a time in a zone has no date that would choose between the zone's offsets.
_STANDARD_YEAR = 2030
_FIRST_YEAR, _LAST_YEAR = 2, 9998  # `datetime` holds every day of these years in every zone


class UnknownZone(TemporalError):
    """The text is neither a region of the time zone database nor an offset."""


def parse_offset(text: str) -> int | None:
    """Seconds of `Z`, `+1`, `+01`, `+01:30`, `+0130`, `+01:30:15`; None for other texts and beyond 18 h."""
    if text == "Z":
        return 0
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    sign, hours, minutes, seconds = match.groups()
    if int(minutes or 0) > 59 or int(seconds or 0) > 59:
        return None
    total = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    if total > MAX_OFFSET_S:
        return None
    return -total if sign == "-" else total


def format_offset(offset: int) -> str:
    """`Z`, `+01:00`, or `+02:45:55` if the seconds are not 0."""
    if offset == 0:
        return "Z"
    minutes, seconds = divmod(abs(offset), 60)
    text = f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return f"{text}:{seconds:02}" if seconds else text


@lru_cache(maxsize=1024)
def resolve_zone(zone_id: str) -> tuple[int | None, str | None]:
    """`(offset, None)` for an offset, `(None, normalised id)` for a zone. Raises UnknownZone."""
    offset = parse_offset(zone_id)
    if offset is not None:
        return offset, None
    prefixed = _PREFIXED.fullmatch(zone_id)
    if prefixed is not None:
        offset = parse_offset(prefixed[2])
        if offset is None:
            raise UnknownZone(f"Unknown time zone '{zone_id}'")
        return None, prefixed[1] + (format_offset(offset) if offset else "")
    _rules(zone_id)
    return None, zone_id


@lru_cache(maxsize=1024)
def _rules(zone_id: str) -> zoneinfo.ZoneInfo | int:
    """The rules of a normalised zone id, or its offset if that never changes. Raises UnknownZone."""
    prefixed = _PREFIXED.fullmatch(zone_id)
    if prefixed is not None:
        return parse_offset(prefixed[2]) or 0
    if zone_id not in _regions():
        raise UnknownZone(f"Unknown time zone '{zone_id}'")
    return zoneinfo.ZoneInfo(zone_id)


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    """The regions of the time zone database, from the list in the tzdata package.

    Reading the list takes 0.2 ms. Walking the file system would take 40 ms, and looking up an unknown region there
    50 us each time.
    """
    return frozenset(resources.files("tzdata").joinpath("zones").read_text().split()) - _NOT_REGIONS


def _offset_of(moment: datetime) -> int:
    offset = moment.utcoffset()
    assert offset is not None
    return offset.days * 86_400 + offset.seconds


def _naive(day: int, second: int) -> datetime:
    """A day with the same offset that `datetime` can hold: the day itself, or one some 400-year cycles away.

    In late years the zone's last known rules hold for ever. In early years its local mean time holds.
    """
    year, month, day_of_month = from_epoch_day(day)
    if year > _LAST_YEAR:
        year -= -(-(year - _LAST_YEAR) // YEARS_PER_CYCLE) * YEARS_PER_CYCLE
    elif year < _FIRST_YEAR:
        year += -(-(_FIRST_YEAR - year) // YEARS_PER_CYCLE) * YEARS_PER_CYCLE
    return datetime(year, month, day_of_month, second // 3600, second // 60 % 60, second % 60)


def offset_at_instant(zone_id: str, epoch_second: int) -> int:
    """The zone's offset at an instant, seconds east of UTC."""
    rules = _rules(zone_id)
    if isinstance(rules, int):
        return rules
    day, second = divmod(epoch_second, 86_400)
    return _offset_of(rules.fromutc(_naive(day, second).replace(tzinfo=rules)))


def offsets_at_local(zone_id: str, day: int, nanos: int) -> tuple[int, int]:
    """The zone's offsets before and after the clock change at a local time; equal if clocks do not change then.

    Before < after: a gap, the local time does not exist. Before > after: an overlap, it exists twice.
    """
    rules = _rules(zone_id)
    if isinstance(rules, int):
        return rules, rules
    local = _naive(day, nanos // NANOS_PER_SECOND).replace(tzinfo=rules)
    return _offset_of(local), _offset_of(local.replace(fold=1))


@lru_cache(maxsize=1024)
def standard_offset(zone_id: str) -> int:
    """The zone's offset without daylight saving time, by today's rules."""
    january, july = (epoch_day(_STANDARD_YEAR, month, 1) * 86_400 for month in (1, 7))
    return min(offset_at_instant(zone_id, january), offset_at_instant(zone_id, july))
