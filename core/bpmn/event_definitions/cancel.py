"""Cancel events. BPMN 2.0.2 §10.3.5, §10.5.4, §13.3.4: an end event cancels the transaction sub-process around it. The
cancel boundary event of the transaction follows. Three of the problems have the texts of Camunda 7.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.event_definitions.kind import EventKind
from vivero.core.bpmn.model import CancelEvent, NodeId
from vivero.core.bpmn.reading.draft import Draft, Member, Place, event_definitions
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import split

TAG = "cancelEventDefinition"


def _read(reading: EventReading) -> CancelEvent:
    if not reading.interrupting:
        text = "cancelActivity has no effect: a cancel boundary event always interrupts"
        reading.report.warn(reading.owner, text, at=reading.definition)
    return CancelEvent()


def _check(member: Member, draft: Draft) -> None:
    place = draft.place_of(member)
    problem = _wrong_boundary(member, draft) if place is Place.BOUNDARY else None
    if place is Place.END:
        problem = _wrong_end(member, draft)
    if problem is not None:
        draft.report.add_problem(member.element, problem)


def _wrong_boundary(boundary: Member, draft: Draft) -> str | None:
    host = draft.members.get(draft.hosts.get(boundary.id, ""))
    if host is None:
        return None  # already reported
    if host.tag != "transaction":
        return "boundary event with cancelEventDefinition only supported on transaction subprocesses"
    if next(boundaries(host.id, draft)) != boundary.id:
        return "multiple boundary events with cancelEventDefinition not supported on same transaction subprocess"
    return None


def _wrong_end(event: Member, draft: Draft) -> str | None:
    scope = event.scope
    while scope in draft.members and draft.members[scope].tag != "transaction":
        if _compensates(draft.members[scope], draft):
            return f"a cancel end event cannot stand in {quote(scope)}, which runs to compensate something"
        scope = draft.members[scope].scope
    if scope not in draft.members:
        return "end event with cancelEventDefinition only supported inside transaction subprocess"
    if not any(boundaries(scope, draft)):
        return f"the transaction {quote(scope)} needs a cancel boundary event: it is what follows this end event"
    return None


def _compensates(scope: Member, draft: Draft) -> bool:
    """Whether the scope may run when the transaction around it has ended."""
    return draft.is_handler(scope) or draft.compensations.get(scope.scope) == scope.id


def boundaries(host: NodeId, draft: Draft) -> Iterator[NodeId]:
    """The cancel boundary events of an activity, in document order."""
    for id in draft.attached.get(host, ()):
        if any(split(definition)[1] == TAG for definition in event_definitions(draft.members[id].element)):
            yield id


KIND = EventKind("a cancel event", frozenset({Place.END, Place.BOUNDARY}), _read, check=_check)
