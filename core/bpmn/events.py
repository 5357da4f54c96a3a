"""Events: what they wait for and what they throw. BPMN 2.0.2 §10.5.

`EVENT_KINDS` is the table of contents of event definitions; `core.events.table` says what they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from vivero.core.bpmn.elements.form_references import START_FORM, takes_start_form
from vivero.core.bpmn.event_definitions import conditional, error, escalation, link, message, signal, terminate, timer
from vivero.core.bpmn.event_definitions.kind import THROWN, EventKind
from vivero.core.bpmn.model import EventDefinition
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of
from vivero.core.bpmn.reading.extensions import Extensions, read_extensions
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.values import flag

EVENT_KINDS: Mapping[str, EventKind] = {
    "messageEventDefinition": message.KIND,
    "timerEventDefinition": timer.KIND,
    "errorEventDefinition": error.KIND,
    "escalationEventDefinition": escalation.KIND,
    "signalEventDefinition": signal.KIND,
    "terminateEventDefinition": terminate.KIND,
    link.TAG: link.KIND,
    "conditionalEventDefinition": conditional.KIND,
}
"""Event definition → how it is read. The order is that of the docs."""


def event_of(member: Member, extensions: Extensions, draft: Draft) -> EventDefinition | None:
    """What an event waits for or throws. None for a none event, and for a wrong one (reported)."""
    found, place = definition_of(member.element), draft.place_of(member)
    if found is None or place is None or found[0] not in EVENT_KINDS:
        return None
    kind, definition = EVENT_KINDS[found[0]], found[1]
    if place not in kind.places:
        draft.report.add_problem(member.element, f"{kind.what} cannot {place.value}", at=definition)
        return None
    both = {
        **read_extensions(member.element, _in_definition(member, kind, draft), draft.report, of=definition),
        **extensions,
    }
    interrupting = is_interrupting(member, draft)
    return kind.read(EventReading(member.element, definition, place, interrupting, both, member.scope, draft))


def allowed_extensions(member: Member, draft: Draft) -> frozenset[str]:
    """The executed `zeebe:` elements of an element: those of its kind and of the event that it throws."""
    assert member.kind is not None
    kind = _thrown_kind(member, draft)
    thrown = frozenset() if kind is None else kind.throwing_extensions
    return member.kind.extensions | thrown | (START_FORM if takes_start_form(member, draft) else frozenset())


def _in_definition(member: Member, kind: EventKind, draft: Draft) -> frozenset[str]:
    """The executed `zeebe:` elements of an event definition."""
    thrown = _thrown_kind(member, draft)
    return kind.definition_extensions | (frozenset() if thrown is None else thrown.throwing_definition_extensions)


def _thrown_kind(member: Member, draft: Draft) -> EventKind | None:
    """The kind of the only definition of an event that throws."""
    found = definition_of(member.element)
    return None if found is None or draft.place_of(member) not in THROWN else EVENT_KINDS.get(found[0])


def reading_of_task(task: Member, place: Place, extensions: Extensions, draft: Draft) -> EventReading:
    """A reading of the message of a receive task, which catches, or of a send task, which throws."""
    return EventReading(task.element, task.element, place, True, extensions, task.scope, draft)


def is_interrupting(member: Member, draft: Draft) -> bool:
    """Whether a boundary event or the start event of an event sub-process interrupts; true for other events."""
    place = draft.place_of(member)
    if place is Place.BOUNDARY:
        return flag(member.element, "cancelActivity", draft.report, default=True)
    if place is Place.EVENT_SUB_PROCESS_START:
        return flag(member.element, "isInterrupting", draft.report, default=True)
    return True
