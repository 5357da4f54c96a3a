"""Events: what they wait for and what they throw. BPMN 2.0.2 §10.5.

`EVENTS` says of each event definition where it may stand, what it contains and who reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from vivero.engine.bpmn import messages
from vivero.engine.bpmn.draft import Draft, Member, Place, definition_of
from vivero.engine.bpmn.extensions import JOB, PUBLISH, Extensions, read_extensions
from vivero.engine.bpmn.model import (
    ErrorEvent,
    EscalationEvent,
    EventDefinition,
    LinkEvent,
    SignalEvent,
    TerminateEvent,
)
from vivero.engine.bpmn.references import Reading, article
from vivero.engine.bpmn.report import quote
from vivero.engine.bpmn.timers import KINDS, timer
from vivero.engine.bpmn.values import flag, is_expression, text_or_expression
from vivero.engine.bpmn.xml import Element
from vivero.engine.feel import Expression

STARTS = frozenset({Place.PROCESS_START, Place.EVENT_SUB_PROCESS_START})
CAUGHT = STARTS | {Place.CATCH, Place.BOUNDARY}
THROWN = frozenset({Place.THROW, Place.END})


@dataclass(frozen=True, slots=True)
class EventKind:
    """How an event definition of one tag is read."""

    what: str
    places: frozenset[Place]
    read: Callable[[Reading], EventDefinition | None]
    children: frozenset[str] = frozenset()
    """The BPMN child elements that it executes or may have, by local name."""


def event_of(member: Member, extensions: Extensions, draft: Draft) -> EventDefinition | None:
    """What an event waits for or throws. None for a none event, and if something of it is wrong (reported)."""
    found, place = definition_of(member.element), draft.place_of(member)
    if found is None or place is None or found[0] not in EVENTS:
        return None
    kind, definition = EVENTS[found[0]], found[1]
    if place not in kind.places:
        draft.report.refuse(member.element, f"{kind.what} cannot {place.value}", at=definition)
        return None
    both = {**read_extensions(member.element, _in_definition(member, draft), draft.report, of=definition), **extensions}
    interrupting = is_interrupting(member, draft)
    return kind.read(Reading(member.element, definition, place, interrupting, both, member.scope, draft))


def allowed_extensions(member: Member, draft: Draft) -> frozenset[str]:
    """The `zeebe:` elements that execute on this element: its kind's, and what an event needs to send a message."""
    assert member.kind is not None
    return member.kind.extensions | (JOB | PUBLISH if _sends(member, draft) else frozenset())


def _in_definition(member: Member, draft: Draft) -> frozenset[str]:
    """`zeebe:publishMessage` is found on the event as well as on its definition."""
    return PUBLISH if _sends(member, draft) else frozenset()


def _sends(member: Member, draft: Draft) -> bool:
    found = definition_of(member.element)
    return found is not None and found[0] == "messageEventDefinition" and draft.place_of(member) in THROWN


def reading_of_task(task: Member, place: Place, extensions: Extensions, draft: Draft) -> Reading:
    """For the message of a receive task (a place that catches) or of a send task (one that throws)."""
    return Reading(task.element, task.element, place, True, extensions, task.scope, draft)


def is_interrupting(member: Member, draft: Draft) -> bool:
    """Of a boundary event and of the start event of an event sub-process; true where nothing could be interrupted."""
    place = draft.place_of(member)
    if place is Place.BOUNDARY:
        return flag(member.element, "cancelActivity", draft.report, default=True)
    if place is Place.EVENT_SUB_PROCESS_START:
        return flag(member.element, "isInterrupting", draft.report, default=True)
    return True


# Readers --------------------------------------------------------------------------------------------------------------


def _message(reading: Reading) -> EventDefinition | None:
    if reading.place in THROWN:
        return messages.thrown(reading)
    reading.needs("message")
    return messages.awaited(reading)


def _signal(reading: Reading) -> SignalEvent | None:
    """§10.5.5."""
    reading.needs("signal")
    signal = reading.referred("signalRef", "signal")
    if signal is None:
        return None
    does = "throws" if reading.place in THROWN else "waits for"
    name = reading.named(signal, "name", f"{quote(reading.owner.get('id', ''))} {does} it")
    return None if name is None else SignalEvent(name)


def _error(reading: Reading) -> ErrorEvent | None:
    """§10.5.5: an error always interrupts."""
    if not reading.interrupting:
        reading.refuse("an error event always interrupts")
    found, code = _code(reading, "error", "errorCode")
    return ErrorEvent(code) if found else None


def _escalation(reading: Reading) -> EscalationEvent | None:
    """§10.5.5."""
    found, code = _code(reading, "escalation", "escalationCode")
    return EscalationEvent(code) if found else None


def _code(reading: Reading, tag: str, attribute: str) -> tuple[bool, Expression | None]:
    """Whether it is clear which code is meant, and the code: none for one that catches them all."""
    throws = reading.place in THROWN
    reference = f"{tag}Ref"
    referred = reading.referred(reference, tag, required=throws)
    if referred is None:
        return not throws and not reading.definition.get(reference, "").strip(), None
    text = referred.get(attribute, "")
    if throws:
        code = reading.named(referred, attribute, f"{quote(reading.owner.get('id', ''))} throws it")
        return code is not None, code
    if not text.strip():
        return True, None
    if is_expression(text):
        reading.refuse(f"the {attribute} of {article(tag)} that is caught cannot be an expression")
        return False, None
    code = text_or_expression(text, attribute, referred, reading.report, at=referred)
    return code is not None, code


def _terminate(_reading: Reading) -> TerminateEvent:
    """§10.5.5."""
    return TerminateEvent()


def _link(reading: Reading) -> LinkEvent | None:
    """§10.5.5: from the throwing event the path goes on at the catching one of the same name in the same scope."""
    name = link_name(reading.definition)
    if not name:
        reading.refuse("a link event needs a name")
        return None
    if reading.place is Place.CATCH:
        return LinkEvent(name)
    target = reading.draft.links.get((reading.scope, name))
    if target is None:
        reading.refuse(f"no catching link event in this scope has the name {quote(name)}")
        return None
    return LinkEvent(name, target)


def link_name(definition: Element) -> str:
    return definition.get("name", "").strip()


EVENTS: Mapping[str, EventKind] = {
    "messageEventDefinition": EventKind("a message event", CAUGHT | THROWN, _message, frozenset({"operationRef"})),
    "timerEventDefinition": EventKind("a timer event", CAUGHT, timer, frozenset(KINDS)),
    "errorEventDefinition": EventKind(
        "an error event", frozenset({Place.EVENT_SUB_PROCESS_START, Place.BOUNDARY, Place.END}), _error
    ),
    "escalationEventDefinition": EventKind(
        "an escalation event", frozenset({Place.EVENT_SUB_PROCESS_START, Place.BOUNDARY}) | THROWN, _escalation
    ),
    "signalEventDefinition": EventKind("a signal event", CAUGHT | THROWN, _signal),
    "terminateEventDefinition": EventKind("a terminate event", frozenset({Place.END}), _terminate),
    "linkEventDefinition": EventKind(
        "a link event", frozenset({Place.CATCH, Place.THROW}), _link, frozenset({"source", "target"})
    ),
}
"""Event definition → how it is read. The order is that of the docs."""
