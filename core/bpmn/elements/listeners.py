"""Execution listeners (`zeebe:executionListeners`): jobs before an element begins and after it is done.

`REFUSED` lists the elements that cannot have them for an event, and names the elements that can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vivero.core.bpmn.model import JobDefinition
from vivero.core.bpmn.reading.draft import Draft, event_definitions
from vivero.core.bpmn.reading.extensions import Extensions, job_retries, job_type, task_headers
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import ZEEBE, Element, split

LISTENER_EVENTS = {"start": "START", "end": "END"}
"""`eventType` → the event as the REST API names it."""
NOT_YET = {
    "beforeAll": "listeners before all instances of a multi-instance activity are not executable yet",
    "cancel": "listeners of the end by cancellation are not executable yet",
}
_GATEWAY_END = "a gateway has no end listeners; what follows it can have start listeners"

REFUSED: Mapping[tuple[str, str], str] = {
    ("START_EVENT", "start"): "a start event has no start listeners; the process or sub-process it is in can have them",
    ("BOUNDARY_EVENT", "start"): "a boundary event has no start listeners; what it is attached to can have them",
    ("EXCLUSIVE_GATEWAY", "end"): _GATEWAY_END,
    ("INCLUSIVE_GATEWAY", "end"): _GATEWAY_END,
    ("PARALLEL_GATEWAY", "end"): _GATEWAY_END,
    ("EVENT_BASED_GATEWAY", "end"): _GATEWAY_END,
}
_ERROR_END = "an error end event has no end listeners: it never completes; what catches the error can have them"


def execution_listeners(
    element: Element, type_: str, extensions: Extensions, draft: Draft
) -> dict[str, tuple[JobDefinition, ...]]:
    """The listeners of an element of type `type_`, by event and in document order."""
    holder = extensions.get("executionListeners")
    found: dict[str, list[JobDefinition]] = {}
    seen: set[tuple[str, str]] = set()
    for listener in _children(element, holder, "executionListener", draft) if holder is not None else ():
        event = _event(element, type_, listener, draft)
        job = _job(element, listener, extensions, draft)
        given = (event or "", listener.get("type", "").strip())
        if event is not None and given in seen:
            text = f"two {listener.get('eventType')} listeners have the type {quote(given[1])}"
            draft.report.add_problem(element, text, at=listener)
        elif event is not None and job is not None:
            seen.add(given)
            found.setdefault(event, []).append(job)
    return {event: tuple(jobs) for event, jobs in found.items()}


def _children(element: Element, holder: Element, name: str, draft: Draft) -> Iterator[Element]:
    """The children of one name. Others are reported, because they would have no effect."""
    for child in holder:
        if split(child) == (ZEEBE, name):
            yield child
        else:
            text = f"{quote(split(child)[1])} has no place in zeebe:{split(holder)[1]}"
            draft.report.add_problem(element, text, at=child)


def _event(element: Element, type_: str, listener: Element, draft: Draft) -> str | None:
    """None if the element cannot have listeners of this event (reported)."""
    given = listener.get("eventType", "").strip()
    problem = REFUSED.get((type_, given)) or NOT_YET.get(given)
    if given == "end" and type_ == "END_EVENT" and _throws_error(element):
        problem = _ERROR_END
    elif problem is None and given not in LISTENER_EVENTS:
        problem = f"eventType: {quote(given)} is none of {', '.join(LISTENER_EVENTS)}"
    if problem is None:
        return LISTENER_EVENTS[given]
    draft.report.add_problem(element, f"zeebe:executionListener: {problem}", at=listener)
    return None


def _throws_error(element: Element) -> bool:
    return any(split(definition)[1] == "errorEventDefinition" for definition in event_definitions(element))


def _job(element: Element, listener: Element, extensions: Extensions, draft: Draft) -> JobDefinition | None:
    """The job of a listener, which also gets the headers of the element. None if it is wrong (reported)."""
    report = draft.report
    type_, retries = job_type(element, listener, report), job_retries(element, listener, report)
    headers = task_headers(element, extensions.get("taskHeaders"), report)
    for own in _children(element, listener, "taskHeaders", draft):
        headers |= task_headers(element, own, report)
    if type_ is None or retries is None:
        return None
    return JobDefinition(type_, retries, headers=headers)
