"""The property `vivero.retention` of a process: how long its ended instances stay (docs/retention.md)."""

from __future__ import annotations

from vivero.core.bpmn.elements.retention_limits import LONGEST_MS, NEVER, SHORTEST_MS
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.parsing import parse_day_time_duration

PROPERTY = "vivero.retention"
NANOS_PER_MS = 1_000_000


def retention_ms(element: Element, text: str | None, report: Report) -> int | None:
    """The milliseconds of the property; 0 for `never`; None without one, or if it is wrong (reported)."""
    if text is None:
        return None
    if text.strip() == NEVER:
        return 0
    try:
        given_ms = parse_day_time_duration(text.strip()).nanos // NANOS_PER_MS
    except TemporalError:
        expected = f"a duration of days, hours, minutes and seconds such as P30D, or {NEVER}"
        report.add_problem(element, f"the property {PROPERTY} is {quote(text)}, and not {expected}")
        return None
    if given_ms < SHORTEST_MS:
        report.add_problem(element, f"the property {PROPERTY} is {quote(text)}: the shortest duration is PT1M")
        return None
    return min(given_ms, LONGEST_MS)
