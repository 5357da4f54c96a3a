"""Timers. BPMN 2.0.2 §10.5.5: a date, a duration or a cycle, in ISO 8601, or FEEL that gives one."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import CAUGHT, EventKind
from vivero.core.bpmn.model import TimerEvent
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import is_expression, text_or_expression
from vivero.core.bpmn.reading.xml import Element, bpmn_children, text_of
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.cron import parse_cron
from vivero.core.feel.temporal.timers import LATEST_MS, cycle_problem, parse_cycle, parse_date_ms, parse_interval

TOO_LATE = "leads beyond the year 9999"
CHILDREN = {"timeDate": "date", "timeDuration": "duration", "timeCycle": "cycle"}


def _read(reading: EventReading) -> TimerEvent | None:
    """Read the timer that the event waits for. None if it is wrong (reported)."""
    given = bpmn_children(reading.definition, *CHILDREN)
    if len(given) != 1:
        reading.add_problem(f"a timer needs one of timeDate, timeDuration and timeCycle, and has {len(given)}")
        return None
    tag = str(given[0].tag).rpartition("}")[2]
    kind = CHILDREN[tag]
    misplaced = _misplaced(kind, reading)
    if misplaced:
        reading.add_problem(misplaced, at=given[0])
    text = text_of(given[0])
    if not is_expression(text):
        _check(kind, tag, text, given[0], reading)
    expression = text_or_expression(text, tag, reading.owner, reading.report, at=given[0])
    return None if expression is None else TimerEvent(kind, expression)


def _misplaced(kind: str, reading: EventReading) -> str | None:
    """The reason why this kind of timer cannot stand at its place; None if it can."""
    if kind == "duration" and reading.place is Place.PROCESS_START:
        return "a duration cannot start a process; a date or a cycle can"
    if kind == "cycle" and reading.place is Place.CATCH:
        return "an intermediate timer event waits for a date or a duration, not for a cycle"
    if kind == "cycle" and reading.interrupting and reading.place is not Place.PROCESS_START:
        return "a cycle needs an event that does not interrupt: it happens again and again"
    return None


def _check(kind: str, tag: str, text: str, at: Element, reading: EventReading) -> None:
    """Check a static value. The value of an expression is checked when it is evaluated."""
    try:
        fault = _fault(kind, text)
        if fault is not None:
            reading.add_problem(f"{tag}: {quote(text)} {fault}", at=at)
    except (TemporalError, OverflowError):
        examples = {"date": "2030-01-31T12:00:00Z", "duration": "PT15M", "cycle": "R3/PT10M or 0 0 9 * * MON-FRI"}
        reading.add_problem(f"{tag}: {quote(text)} is not a {kind} like {examples[kind]}", at=at)


def _fault(kind: str, text: str) -> str | None:
    """The fault of a timer's text, or None. Raises TemporalError, OverflowError."""
    if kind == "date":
        return None if parse_date_ms(text) <= LATEST_MS else TOO_LATE
    if kind == "duration":
        return None if parse_interval(text).added_to(0) <= LATEST_MS else TOO_LATE
    if not text.startswith("R"):
        parse_cron(text)
        return None
    cycle = parse_cycle(text)
    too_late = (cycle.start_ms or cycle.interval.added_to(0)) > LATEST_MS
    return cycle_problem(cycle, 0) or (TOO_LATE if too_late else None)


KIND = EventKind("a timer event", CAUGHT, _read, frozenset(CHILDREN), behind_gateway=True)
