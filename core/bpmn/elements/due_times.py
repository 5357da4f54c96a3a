"""The property `vivero.due` of a process or a user task: when it is late (docs/console.md)."""

from __future__ import annotations

from vivero.core.bpmn.reading.extensions import properties
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import expression, is_expression
from vivero.core.bpmn.reading.xml import Element
from vivero.core.feel import Expression, constant
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_interval

PROPERTY = "vivero.due"


def due_time(element: Element, report: Report) -> Expression | None:
    """The expression of the property: a duration as text, or FEEL. None without one, or if it is wrong (reported)."""
    text = properties(element).get(PROPERTY)
    if text is None:
        return None
    text, what = text.strip(), f"the property {PROPERTY}"
    if is_expression(text):
        return expression(text, what, element, report, at=element)
    try:
        is_positive = parse_interval(text).is_positive
    except (TemporalError, OverflowError):
        is_positive = False
    if not is_positive:
        expected = "a duration above zero such as PT4H or P2D, or an expression: '=' and FEEL behind it"
        report.add_problem(element, f"{what} is {quote(text)}, and not {expected}")
        return None
    return constant(text, text)


def report_misplaced_due_time(element: Element, report: Report) -> None:
    """Report the property at an element that has no due date."""
    if PROPERTY in properties(element):
        text = f"the property {PROPERTY} has no effect here: processes and user tasks with zeebe:userTask can have it"
        report.add_problem(element, text)
