"""Listeners: jobs at the begin and the end of an element (`zeebe:executionListeners`), and at the transitions of a user
task (`zeebe:taskListeners`).

`REFUSED` lists the elements that cannot have them for an event, and names the elements that can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vivero.core.bpmn.model import JobDefinition
from vivero.core.bpmn.reading.draft import Draft, event_definitions
from vivero.core.bpmn.reading.extensions import Extensions, job_retries, job_type, task_headers
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import ZEEBE, Element, bpmn_children, split

LISTENER_EVENTS = {"start": "START", "end": "END", "beforeAll": "BEFORE_ALL", "cancel": "CANCEL"}
"""`eventType` of execution listeners → the event as the REST API names it."""
TASK_LISTENER_EVENTS = {
    "creating": "CREATING",
    "assigning": "ASSIGNING",
    "updating": "UPDATING",
    "completing": "COMPLETING",
    "canceling": "CANCELING",
}
"""`eventType` of task listeners → the event as the REST API names it."""
EARLIER_NAMES = {
    "create": "creating",
    "assignment": "assigning",
    "update": "updating",
    "complete": "completing",
    "cancel": "canceling",
}
"""Names of Camunda 8.7 → those of later versions."""
_GATEWAY_END = "a gateway has no end listeners; what follows it can have start listeners"

REFUSED: Mapping[tuple[str, str], str] = {
    ("START_EVENT", "start"): "a start event has no start listeners; the process or sub-process it is in can have them",
    ("BOUNDARY_EVENT", "start"): "a boundary event has no start listeners; what it is attached to can have them",
    ("EXCLUSIVE_GATEWAY", "end"): _GATEWAY_END,
    ("INCLUSIVE_GATEWAY", "end"): _GATEWAY_END,
    ("COMPLEX_GATEWAY", "end"): _GATEWAY_END,
    ("PARALLEL_GATEWAY", "end"): _GATEWAY_END,
    ("EVENT_BASED_GATEWAY", "end"): _GATEWAY_END,
}
_NO_END = {
    "errorEventDefinition": ("an error end event", "what catches the error"),
    "cancelEventDefinition": ("a cancel end event", "the cancel boundary event"),
}
"""Event definitions of end events that never complete: the event, and what follows."""


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
    problem = REFUSED.get((type_, given))
    if given == "end" and type_ == "END_EVENT":
        problem = _never_completes(element) or problem
    elif given == "beforeAll" and not bpmn_children(element, "multiInstanceLoopCharacteristics"):
        problem = "only a multi-instance activity has beforeAll listeners"
    elif given == "cancel" and type_ != "PROCESS":
        problem = "only a process has cancel listeners"
    elif problem is None and given not in LISTENER_EVENTS:
        problem = f"eventType: {quote(given)} is none of {', '.join(LISTENER_EVENTS)}"
    if problem is None:
        return LISTENER_EVENTS[given]
    draft.report.add_problem(element, f"zeebe:executionListener: {problem}", at=listener)
    return None


def _never_completes(element: Element) -> str | None:
    for _, tag in map(split, event_definitions(element)):
        if tag in _NO_END:
            event, following = _NO_END[tag]
            return f"{event} has no end listeners: it never completes; {following} can have them"
    return None


def task_listeners(element: Element, extensions: Extensions, draft: Draft) -> dict[str, tuple[JobDefinition, ...]]:
    """The listeners of a user task by event and in document order. Several may have the same event and type."""
    holder = extensions.get("taskListeners")
    found: dict[str, list[JobDefinition]] = {}
    for listener in _children(element, holder, "taskListener", draft) if holder is not None else ():
        event, job = _task_event(element, listener, draft), _job(element, listener, extensions, draft)
        if event is not None and job is not None:
            found.setdefault(event, []).append(job)
    return {event: tuple(jobs) for event, jobs in found.items()}


def _task_event(element: Element, listener: Element, draft: Draft) -> str | None:
    """None if there is no such event (reported)."""
    given = listener.get("eventType", "").strip()
    if given in TASK_LISTENER_EVENTS:
        return TASK_LISTENER_EVENTS[given]
    now = EARLIER_NAMES.get(given)
    hint = "" if now is None else f"; it is called {now} since Camunda 8.8"
    text = f"zeebe:taskListener: eventType: {quote(given)} is none of {', '.join(TASK_LISTENER_EVENTS)}{hint}"
    draft.report.add_problem(element, text, at=listener)
    return None


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
