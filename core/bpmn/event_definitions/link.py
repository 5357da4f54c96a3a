"""Link events. BPMN 2.0.2 §10.5.5: the path continues from the throwing event at the catching event of the same name in
the same scope."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import EventKind
from vivero.core.bpmn.model import LinkEvent
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import Element

TAG = "linkEventDefinition"


def _read(reading: EventReading) -> LinkEvent | None:
    name = link_name(reading.definition)
    if not name:
        reading.add_problem("a link event needs a name")
        return None
    if reading.place is Place.CATCH:
        return LinkEvent(name)
    target = reading.draft.links.get((reading.scope, name))
    if target is None:
        reading.add_problem(f"no catching link event in this scope has the name {quote(name)}")
        return None
    return LinkEvent(name, target)


def link_name(definition: Element) -> str:
    return definition.get("name", "").strip()


def connect(draft: Draft) -> None:
    """Fill in the links of the draft."""
    for member in draft.members.values():
        if member.kind is not None and member.kind.place is Place.CATCH:
            _catch(member, draft)
    for member in draft.members.values():
        if member.kind is not None and member.kind.place is Place.THROW:
            _throw(member, draft)


def _catch(member: Member, draft: Draft) -> None:
    definition = _link_of(member)
    if definition is None or not link_name(definition):
        return
    first = draft.links.setdefault((member.scope, link_name(definition)), member.id)
    if first != member.id:
        text = f"a second catching link event of the name {quote(link_name(definition))}: {quote(first)} is one already"
        draft.report.add_problem(member.element, text, at=definition)


def _throw(member: Member, draft: Draft) -> None:
    definition = _link_of(member)
    target = None if definition is None else draft.links.get((member.scope, link_name(definition)))
    if target is not None:
        draft.link_throws.setdefault(target, []).append(member.id)


def _link_of(member: Member) -> Element | None:
    found = definition_of(member.element)
    return found[1] if found is not None and found[0] == TAG else None


def _check(member: Member, draft: Draft) -> None:
    """No flow leaves a throwing link event, and none leads to a catching one."""
    if draft.place_of(member) is Place.THROW:
        for flow in draft.outgoing.get(member.id, ()):
            draft.report.add_problem(draft.flow_of[flow], f"leaves the throwing link event {quote(member.id)}")
    if draft.place_of(member) is Place.CATCH:
        for flow in draft.incoming.get(member.id, ()):
            draft.report.add_problem(draft.flow_of[flow], f"leads to the catching link event {quote(member.id)}")


KIND = EventKind(
    "a link event", frozenset({Place.CATCH, Place.THROW}), _read, frozenset({"source", "target"}), check=_check
)
