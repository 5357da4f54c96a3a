"""Events: what they wait for and what they throw. BPMN 2.0.2 §10.5.

`EVENT_KINDS` is the table of contents of event definitions; `core.events.table` says what they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from vivero.core.bpmn.elements.form_references import START_FORM, takes_start_form
from vivero.core.bpmn.event_definitions import (
    cancel,
    compensate,
    conditional,
    error,
    escalation,
    link,
    message,
    signal,
    terminate,
    timer,
)
from vivero.core.bpmn.event_definitions.kind import THROWN, EventKind
from vivero.core.bpmn.model import EventDefinition, MultipleEvent, SingleEvent
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of, event_definitions
from vivero.core.bpmn.reading.extensions import Extensions, read_extensions
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import Element, split

EVENT_KINDS: Mapping[str, EventKind] = {
    "messageEventDefinition": message.KIND,
    "timerEventDefinition": timer.KIND,
    "errorEventDefinition": error.KIND,
    "escalationEventDefinition": escalation.KIND,
    "signalEventDefinition": signal.KIND,
    "terminateEventDefinition": terminate.KIND,
    link.TAG: link.KIND,
    "conditionalEventDefinition": conditional.KIND,
    compensate.TAG: compensate.KIND,
    cancel.TAG: cancel.KIND,
}
"""Event definition → how it is read. The order is that of the docs."""


def event_of(member: Member, extensions: Extensions, draft: Draft) -> EventDefinition | None:
    """The event that is waited for or thrown. None for a none event, and for a wrong one (reported)."""
    place = draft.place_of(member)
    found = [] if place is None else event_definitions(member.element)
    if place is None or not found:
        return None
    read = [_read(member, definition, place, extensions, draft) for definition in found]
    parts = tuple(part for part in read if part is not None)
    if len(parts) < len(found):
        return None
    if len(parts) == 1:
        return parts[0]
    return MultipleEvent(parts, flag(member.element, "parallelMultiple", draft.report))


def _read(
    member: Member, definition: Element, place: Place, extensions: Extensions, draft: Draft
) -> SingleEvent | None:
    kind = EVENT_KINDS.get(split(definition)[1])
    if kind is None:
        return None
    if place not in kind.places:
        draft.report.add_problem(member.element, f"{kind.what} cannot {place.value}", at=definition)
        return None
    both = {
        **read_extensions(member.element, _in_definition(kind, place), draft.report, of=definition),
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


def _in_definition(kind: EventKind, place: Place) -> frozenset[str]:
    """The executed `zeebe:` elements of an event definition."""
    return kind.definition_extensions | (kind.throwing_definition_extensions if place in THROWN else frozenset())


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
