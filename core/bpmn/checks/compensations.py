"""Compensation: the handlers of activities, and what throwing events name. BPMN 2.0.2 §10.7.

An association leads from a compensation boundary event to the handler: an activity with `isForCompensation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.event_definitions.compensate import TAG
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import ZEEBE, bpmn_children

_THROWN = (Place.THROW, Place.END)
_SCOPES = frozenset({"subProcess", "transaction", "adHocSubProcess"})


def connect(draft: Draft) -> None:
    """Fill in the handlers and compensations of the draft."""
    associated = _associated(draft)
    for member in _events(draft, Place.BOUNDARY):
        handlers = [id for id in associated.get(member.id, ()) if id in draft.members]
        for handler in handlers[:1]:
            draft.handlers[member.id] = handler
            if member.id in draft.hosts:
                draft.compensations.setdefault(draft.hosts[member.id], member.id)
        for surplus in handlers[1:]:
            text = f"a second compensation handler, {quote(surplus)}: {quote(handlers[0])} is one already"
            draft.report.add_problem(member.element, text)
    for start in _events(draft, Place.EVENT_SUB_PROCESS_START):
        sub_process = draft.members[start.scope]
        draft.compensations.setdefault(sub_process.scope, sub_process.id)
    draft.in_compensation.update((*draft.handlers, *draft.handlers.values(), *draft.compensations.values()))
    for activity in draft.compensations:
        around = activity
        while around in draft.members:
            draft.in_compensation.add(around)
            around = draft.members[around].scope


def _associated(draft: Draft) -> dict[str, list[str]]:
    """Element → what an association joins it to, in either direction."""
    found: dict[str, list[str]] = {}
    for container in draft.containers.values():
        for association in bpmn_children(container, "association"):
            source, target = (association.get(end, "").strip() for end in ("sourceRef", "targetRef"))
            source, target = draft.named(source) or source, draft.named(target) or target
            found.setdefault(source, []).append(target)
            found.setdefault(target, []).append(source)
    return found


def _events(draft: Draft, *places: Place) -> Iterator[Member]:
    """The compensation events at these places."""
    for member in draft.members.values():
        found = definition_of(member.element)
        if found is not None and found[0] == TAG and draft.place_of(member) in places:
            yield member


def check(draft: Draft) -> None:
    """Report whatever is wrong with compensation."""
    for member in draft.members.values():
        if draft.is_handler(member):
            _check_handler(member, draft)
        elif draft.is_event_sub_process(member.id) and flag(member.element, "isForCompensation", draft.report):
            draft.report.add_problem(member.element, "an event sub-process cannot be a compensation handler")
    _check_boundaries(draft)
    _check_event_sub_processes(draft)
    for member in _events(draft, *_THROWN):
        _check_thrown(member, draft)


def _check_handler(handler: Member, draft: Draft) -> None:
    for what, found in (
        ("incoming sequence flows", draft.incoming),
        ("outgoing sequence flows", draft.outgoing),
        ("boundary events", draft.attached),
    ):
        if found.get(handler.id):
            draft.report.add_problem(handler.element, f"A compensation handler should have no {what}")


def _check_boundaries(draft: Draft) -> None:
    compensated: dict[str, str] = {}
    used: dict[str, str] = {}
    for boundary in _events(draft, Place.BOUNDARY):
        add_problem, host = draft.report.add_problem, draft.hosts.get(boundary.id)
        for flow in draft.outgoing.get(boundary.id, ()):
            add_problem(draft.flow_of[flow], f"leaves the compensation boundary event {quote(boundary.id)}")
        if any(True for _ in boundary.element.iter(f"{{{ZEEBE}}}executionListener")):
            add_problem(boundary.element, "a compensation boundary event has no listeners; its handler can have them")
        first = boundary.id if host is None else compensated.setdefault(host, boundary.id)
        if first != boundary.id:
            text = f"a second compensation boundary event at {quote(host or '')}: {quote(first)} is one already"
            add_problem(boundary.element, text)
        handler = draft.handlers.get(boundary.id)
        if handler is None:
            draft.report.warn(boundary.element, "it has no compensation handler: no association leads to one")
        else:
            _check_association(boundary, draft.members[handler], used, draft)


def _check_association(boundary: Member, handler: Member, used: dict[str, str], draft: Draft) -> None:
    report = draft.report
    if not draft.is_handler(handler):
        text = f"its association must lead to a compensation handler: {quote(handler.id)} is not isForCompensation"
        report.add_problem(boundary.element, text)
    elif handler.scope != boundary.scope:
        report.add_problem(boundary.element, f"its compensation handler {quote(handler.id)} is in another scope")
    before = used.setdefault(handler.id, boundary.id)
    if before != boundary.id:
        text = f"its compensation handler {quote(handler.id)} is that of {quote(before)} already"
        report.add_problem(boundary.element, text)


def _check_event_sub_processes(draft: Draft) -> None:
    """A scope other than the process has at most one of them, and no compensation boundary event beside it."""
    at_boundary = {draft.hosts.get(boundary.id) for boundary in _events(draft, Place.BOUNDARY)}
    of_scope: dict[str, str] = {}
    for start in _events(draft, Place.EVENT_SUB_PROCESS_START):
        sub_process = draft.members[start.scope]
        scope, first = sub_process.scope, of_scope.setdefault(sub_process.scope, sub_process.id)
        problem = None
        if scope == draft.id:
            problem = "an event sub-process of the process itself cannot be started by compensation"
        elif first != sub_process.id:
            problem = f"a second event sub-process that compensates {quote(scope)}: {quote(first)} is one already"
        elif scope in at_boundary:
            problem = f"{quote(scope)} has a compensation boundary event, too: one of the two is too much"
        if problem is not None:
            draft.report.add_problem(sub_process.element, problem)


def _check_thrown(event: Member, draft: Draft) -> None:
    found = definition_of(event.element)
    reference = "" if found is None else found[1].get("activityRef", "").strip()
    if not reference:
        return
    activity = draft.named(reference)
    what, problem = f"The referenced compensation activity {quote(reference)}", None
    if activity is None:
        problem = f"{what} doesn't exist"
    elif activity not in draft.compensations and draft.members[activity].tag not in _SCOPES:
        problem = f"{what} must have either a compensation boundary event or be a subprocess"
    elif draft.members[activity].scope not in _reached_scopes(event.scope, draft):
        problem = f"{what} must be in the same scope as the compensation throw event"
    if problem is not None:
        draft.report.add_problem(event.element, problem, at=found[1] if found is not None else None)


def _reached_scopes(scope: str, draft: Draft) -> tuple[str, ...]:
    """The scope of a throwing event, and, of an event sub-process, the scope around it."""
    return (scope, draft.members[scope].scope) if draft.is_event_sub_process(scope) else (scope,)
