"""When timers are due. BPMN 2.0.2 §10.5.5.2: a date, a duration, or a cycle: a repeating interval or a cron expression.

Due dates are epoch milliseconds. The n-th due date of a cycle is its anchor plus n intervals, so that neither month
ends nor late firing make it drift.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from cronsim import CronSim, CronSimError

from engine.bpmn.model import TimerEvent
from engine.core.records import Fail, IncidentType
from engine.core.state import Element, Timer
from engine.core.view import View
from engine.feel import to_json
from engine.feel.temporal.calendar import TemporalError
from engine.feel.temporal.timers import Interval, parse_cycle, parse_date_ms, parse_interval

LATEST_MS = 253_402_300_799_999
"""The end of the year 9999."""
SHORTEST_ENDLESS_MS = 1_000
"""An interval that repeats without end is at least this long."""
CRON_NAMES = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}


class Due(NamedTuple):
    """A due date (epoch ms), how often the timer will fire (-1: without end), and what the next date is made of."""

    at: int
    repetitions: int = 1
    cycle: tuple[str, str, int, int] | None = None


class InvalidSchedule(Exception):
    """A date, duration or cycle that cannot be used; the message says why."""


def due_date(event: TimerEvent, element: Element, at: View) -> Due:
    """When the timer of `element` is due first.

    Raises:
        Fail: the expression's value is no date, duration or cycle that can be kept.
    """
    value = at.evaluate(event.expression, element)
    try:
        return due_date_of(event.kind, value, at.now)
    except InvalidSchedule as error:
        text = event.expression.text.removeprefix("=").strip()
        raise Fail(
            IncidentType.EXTRACT_VALUE_ERROR, f"Invalid timer {event.kind} expression '{text}': {error}"
        ) from error


def due_date_of(kind: str, value: Any, now: int) -> Due:
    """When a timer of `kind` ("date", "duration", "cycle") with this value (text or a FEEL temporal) is due first."""
    text = value if isinstance(value, str) else to_json(value).strip('"')
    try:
        if kind == "date":
            due = Due(parse_date_ms(text))
        elif kind == "duration":
            due = Due(max(parse_interval(text).added_to(now), now))
        elif text.startswith("R"):
            due = _first_of_interval(text, now)
        else:
            due = _first_of_cron(text, now)
    except (TemporalError, OverflowError, CronSimError, ValueError) as error:
        raise InvalidSchedule(str(error) or f"'{text}'") from error
    if not 0 <= due.at <= LATEST_MS:
        raise InvalidSchedule(f"'{text}' leads out of the years 1970 to 9999")
    return due


def next_due(timer: Timer) -> Due | None:
    """The occurrence after this one of a cycle, counted from its due date; None when there is none."""
    if timer.cycle is None or timer.repetitions == 1:
        return None
    text, zone, anchor, number = timer.cycle
    left = timer.repetitions - 1 if timer.repetitions > 0 else -1
    if not text.startswith("P"):
        at = _cron_after(text, timer.due_at)
    else:
        at = _occurrence(parse_interval(text), anchor, number + 1, zone)
    return Due(at, left, (text, zone, anchor, number + 1)) if at <= LATEST_MS else None


def _first_of_interval(text: str, now: int) -> Due:
    """The first firing is the start, or one interval from now. A start in the past keeps its phase."""
    cycle = parse_cycle(text)
    interval, repetitions = cycle.interval, -1 if cycle.repetitions is None else cycle.repetitions
    if not interval.is_positive and repetitions != 1:
        raise InvalidSchedule(f"the interval of '{text}' does not lead forward")
    if repetitions == 0:
        raise InvalidSchedule(f"'{text}' never fires")
    parts = text.rsplit("/", 1)
    zone = _zone_of(parts[0])
    if repetitions < 0 and interval.added_to(now) - now < SHORTEST_ENDLESS_MS:
        raise InvalidSchedule(f"the interval of '{text}' is shorter than a second, and repeats without end")
    if cycle.start_ms is None:
        return Due(interval.added_to(now, zone), repetitions, (parts[1], zone, now, 1))
    number = _first_not_before(interval, cycle.start_ms, now, zone)
    at = _occurrence(interval, cycle.start_ms, number, zone)
    return Due(at, repetitions, (parts[1], zone, cycle.start_ms, number))


def _first_not_before(interval: Interval, anchor: int, now: int, zone: str) -> int:
    """The number of the first occurrence at or after `now`; 0 is the anchor."""
    if anchor >= now:
        return 0
    step = max(interval.added_to(anchor, zone) - anchor, 1)
    number = max((now - anchor) // step - 1, 0)
    while number > 0 and _occurrence(interval, anchor, number, zone) > now:
        number = number * 9 // 10
    while _occurrence(interval, anchor, number, zone) < now:
        number += 1
    return number


def _occurrence(interval: Interval, anchor: int, number: int, zone: str) -> int:
    times = Interval(interval.months * number, interval.days * number, interval.nanos * number)
    return times.added_to(anchor, zone)


def _zone_of(text: str) -> str:
    """The zone that a start names in brackets; calendar units are added in it. UTC without one."""
    return text[text.index("[") + 1 : text.index("]")] if "[" in text and "]" in text else "Z"


def _first_of_cron(text: str, now: int) -> Due:
    return Due(_cron_after(text, now), -1, (text, "Z", now, 0))


def _cron_after(text: str, after_ms: int) -> int:
    """Six fields, seconds first, in UTC; `?` means any, and the usual names (`@daily`) are known."""
    fields = CRON_NAMES.get(text, text).replace("?", "*")
    if len(fields.split()) != 6:
        raise InvalidSchedule(f"'{text}' is neither a repeating interval nor a cron expression of six fields")
    start = datetime.fromtimestamp(after_ms / 1000, UTC)
    found = next(CronSim(fields, start), None)
    if found is None:
        raise InvalidSchedule(f"the cron expression '{text}' never fires")
    return int(found.timestamp() * 1000)
