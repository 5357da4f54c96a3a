"""Timers that start processes. Only the latest version has them; they are evaluated when a version becomes the latest,
without variables of processes. They may read cluster variables."""

from __future__ import annotations

from vivero.core.bpmn.model import TimerEvent
from vivero.core.events.behaviour import LatestVersion
from vivero.core.events.schedules import Due, InvalidSchedule, describe, due_date_of
from vivero.core.expressions.camunda_context import CAMUNDA
from vivero.core.feel import EvaluationError, compile_attribute
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.records.timers import TimerCanceled, TimerScheduled
from vivero.core.rules import TIMER_RULES, TimerRules
from vivero.core.view import View

KINDS = {"TIMER_DATE": "date", "TIMER_CYCLE": "cycle"}
"""`kind` of a start event's metadata → kind of the timer. The `name` is the text of the expression."""
CHECK_TIME_MS = 1_800_000_000_000
"""A time for checking expressions before deployment. Whether an expression is valid hardly depends on the time."""


def metadata(element: str, event: TimerEvent) -> StartMetadata:
    """The metadata of a timer start event, for the catalogue.

    Raises:
        InvalidSchedule: the expression gives no date or cycle, or needs variables. With cluster variables only
            `open_timer` can tell.
    """
    kind = next(name for name, kind in KINDS.items() if kind == event.kind)
    value = event.expression.static_value if event.expression.is_static else None
    text = value if isinstance(value, str) else "=" + event.expression.text.removeprefix("=")
    found = StartMetadata(element, kind, text)
    if CAMUNDA not in event.expression.variables:
        due_of(found, CHECK_TIME_MS, TIMER_RULES)
    return found


def open_timer(event: StartMetadata, latest: LatestVersion, view: View) -> Effects:
    """Schedule the timer of a start event. A version that becomes the latest again does not repeat past dates.

    Raises:
        Reject: the expression gives no valid date or cycle.
    """
    try:
        due = due_of(event, view.now, view.rules, view)
    except InvalidSchedule as error:
        what = "make a former version the latest one of" if latest.restored else "deploy"
        reason = f"Expected to {what} process '{latest.process_id}', but element '{event.element}': {error}"
        raise Reject(RejectionCode.INVALID_ARGUMENT, reason) from error
    if not (latest.restored and due.cycle is None and due.at <= view.now):
        yield scheduled(view.key(), event.element, due, latest.definition, latest.process_id, view.tenant)


def close_timers(process_id: str, view: View) -> Effects:
    for key in view.start_timers(process_id):
        yield TimerCanceled(key)


def scheduled(key: int, element: str, due: Due, definition: int, process_id: str, tenant: str) -> TimerScheduled:
    """The log event that schedules the timer of a start event."""
    return TimerScheduled(
        key, None, element, "START_EVENT", due.at, due.repetitions, due.cycle, definition, process_id, tenant
    )


def due_of(start: StartMetadata, now: int, rules: TimerRules, view: View | None = None) -> Due:
    """The first due date. Cluster variables need a view.

    Raises:
        InvalidSchedule: the expression gives no valid date or cycle.
    """
    expression = compile_attribute(start.name)
    kind = KINDS[start.kind]
    seen = {CAMUNDA: view.camunda(None)} if view is not None and CAMUNDA in expression.variables else {}
    try:
        value = expression.static_value if expression.is_static else expression.evaluate(seen, now=now).value
        if expression.is_static and not start.name.startswith("="):
            value = start.name
        return due_date_of(kind, value, now, rules)
    except InvalidSchedule as error:
        raise InvalidSchedule(describe(TimerEvent(kind, expression), error)) from error
    except EvaluationError as error:
        raise InvalidSchedule(
            f"the timer {kind} '{start.name}' cannot be evaluated without variables: {error}"
        ) from error
