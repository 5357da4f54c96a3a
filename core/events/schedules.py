"""Due dates of timers. BPMN 2.0.2 §10.5.5: a date, a duration, or a cycle (a repeating interval or a cron expression).

Due dates are epoch milliseconds. The n-th due date of a repeating interval is its anchor plus n intervals, so it does
not drift at the ends of months or when a timer fires late. Months and days are added in the time zone of the start, or
in UTC if it has none. A cron expression uses the time zone of the timer rules.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from vivero.core.bpmn.model import TimerEvent
from vivero.core.feel import EvaluationError, to_json
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.cron import parse_cron
from vivero.core.feel.temporal.timers import LATEST_MS as LATEST_MS
from vivero.core.feel.temporal.timers import Interval, cycle_problem, parse_cycle, parse_date_ms, parse_interval
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.rules import TimerRules
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

MAX_TEXT = 1_000
"""In characters, for a date, duration or cycle."""

_NAMED_ZONE = re.compile(r"[@\[]([^\]]+)\]?$")

Cycle = tuple[str, str, int, int]
"""Data for the next due date: (interval or cron text, zone, anchor in epoch ms, number of this occurrence)."""


class Due(NamedTuple):
    """A due date (epoch ms), how often the timer will fire (-1: without end), and the data for the next due date."""

    at: int
    repetitions: int = 1
    cycle: Cycle | None = None


class InvalidSchedule(Exception):
    """A date, duration or cycle is invalid. The message gives the reason."""


def due_date(event: TimerEvent, element: Element, view: View) -> Due:
    """The first due date of the timer of `element`.

    Raises:
        Fail: the expression gives no valid date, duration or cycle.
    """
    value = view.expressions.evaluate(event.expression, element)
    try:
        return due_date_of(event.kind, value, view.now, view.rules)
    except InvalidSchedule as error:
        raise Fail(IncidentType.EXTRACT_VALUE_ERROR, describe(event, error)) from error


def describe(event: TimerEvent, error: InvalidSchedule) -> str:
    """A message for people about an invalid timer."""
    text = event.expression.text.removeprefix("=").strip()
    return f"Invalid timer {event.kind} expression '{text}': {error}"


def due_date_of(kind: str, value: Any, now: int, rules: TimerRules) -> Due:
    """The first due date of a timer of `kind` ("date", "duration", "cycle") with this value (text or a FEEL temporal).

    A date in the past is due at once.

    Raises:
        InvalidSchedule: the value is not of this kind, or the due date is out of range.
    """
    text = _text_of(kind, value)
    try:
        due = _FIRST[kind](text, now, rules)
    except (TemporalError, OverflowError) as error:
        raise InvalidSchedule(str(error) or f"'{text}' is too large") from error
    if not 0 <= due.at <= LATEST_MS:
        raise InvalidSchedule(f"'{text}' gives a date outside the years 1970 to 9999")
    return due


def _text_of(kind: str, value: Any) -> str:
    if isinstance(value, str):
        text = value.strip()
    else:
        try:
            text = to_json(value)
        except EvaluationError as error:
            raise InvalidSchedule(f"its value is not a {kind}: {error}") from error
        if not text.startswith('"'):
            raise InvalidSchedule(f"its value is {text[:100]}, which is no {kind}")
        text = text.strip('"')
    if len(text) > MAX_TEXT:
        raise InvalidSchedule(f"its value has {len(text)} characters, more than {MAX_TEXT}")
    return text


def _first_of_date(text: str, now: int, _rules: TimerRules) -> Due:
    return Due(max(parse_date_ms(text), 0))


def _first_of_duration(text: str, now: int, _rules: TimerRules) -> Due:
    return Due(max(parse_interval(text).added_to(now), now))


def _first_of_cycle(text: str, now: int, rules: TimerRules) -> Due:
    return _first_of_interval(text, now) if text.startswith("R") else _first_of_cron(text, now, rules)


_FIRST = {"date": _first_of_date, "duration": _first_of_duration, "cycle": _first_of_cycle}


def next_due(before: Due, now: int, rules: TimerRules) -> Due | None:
    """The next occurrence of a cycle, counted from the one before; None if there is none.

    Of the occurrences that were missed until `now`, the last `missed_limit` fire. The others count as fired.
    """
    if before.cycle is None or before.repetitions == 1:
        return None
    text, zone, anchor, number = before.cycle
    at: int | None
    try:
        if text.startswith("P"):
            at, skipped = _next_of_interval(parse_interval(text), zone, anchor, number, now, rules)
        else:
            at, skipped = _next_of_cron(text, zone, before.at, now, rules)
    except OverflowError:
        return None
    left = before.repetitions - 1 - skipped
    if at is None or at > LATEST_MS or (before.repetitions > 0 and left <= 0):
        return None
    return Due(at, left if before.repetitions > 0 else -1, (text, zone, anchor, number + 1 + skipped))


# ------------------------------------------------------------------------------------------------------ intervals


def _first_of_interval(text: str, now: int) -> Due:
    """The first occurrence is the start, or one interval from now. A start in the past keeps its phase."""
    cycle = parse_cycle(text)
    interval, repetitions = cycle.interval, -1 if cycle.repetitions is None else cycle.repetitions
    head, length = text.rsplit("/", 1)
    fault = cycle_problem(cycle, now)
    if fault is not None:
        raise InvalidSchedule(f"'{text}' {fault}")
    if cycle.start_ms is None:
        return Due(max(interval.added_to(now), now), repetitions, (length, "Z", now, 1))
    zone = _zone_of(head)
    number = _first_at_or_after(interval, cycle.start_ms, now, zone) if interval.is_positive else 0
    at = _occurrence(interval, cycle.start_ms, number, zone)
    return Due(at, repetitions, (length, zone, cycle.start_ms, number))


def _next_of_interval(
    interval: Interval, zone: str, anchor: int, number: int, now: int, rules: TimerRules
) -> tuple[int, int]:
    """(next due date, number of occurrences skipped before it)"""
    following = number + 1
    at = _occurrence(interval, anchor, following, zone)
    if at > now:
        return at, 0
    earliest = _first_at_or_after(interval, anchor, now + 1, zone) - rules.missed_limit
    chosen = max(following, earliest)
    return _occurrence(interval, anchor, chosen, zone), chosen - following


def _first_at_or_after(interval: Interval, anchor: int, moment: int, zone: str) -> int:
    """The number of the first occurrence at or after `moment`. Number 0 is the anchor."""
    if anchor >= moment:
        return 0
    high = 1
    while _occurrence(interval, anchor, high, zone) < moment:
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if _occurrence(interval, anchor, middle, zone) < moment else (low, middle)
    return high


def _occurrence(interval: Interval, anchor: int, number: int, zone: str) -> int:
    times = Interval(interval.months * number, interval.days * number, interval.nanos * number)
    return times.added_to(anchor, zone)


def _zone_of(start: str) -> str:
    """The time zone of a start, in brackets or after `@`; UTC if it has none. Months and days are added in it."""
    named = _NAMED_ZONE.search(start)
    return "Z" if named is None else named[1]


# ----------------------------------------------------------------------------------------------------------- cron


def _first_of_cron(text: str, now: int, rules: TimerRules) -> Due:
    at = parse_cron(text).after(now, rules.cron_zone)
    if at is None:
        raise InvalidSchedule(f"the cron expression '{text}' has no next date")
    return Due(at, -1, (text, rules.cron_zone, now, 0))


def _next_of_cron(text: str, zone: str, due_at: int, now: int, rules: TimerRules) -> tuple[int | None, int]:
    """(next due date, 0). Skipped occurrences need no count: cron expressions have no number of repetitions."""
    cron = parse_cron(text)
    missed = cron.latest(rules.missed_limit, due_at, now, zone) if rules.missed_limit else None
    return (cron.after(max(due_at, now), zone) if missed is None else missed), 0
