"""Events that the inner instances of a multi-instance activity throw as they complete. BPMN 2.0.2 §10.3.9, table 10.30.

Boundary events of the activity catch them, so they are signals and escalations.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.event_definitions import escalation, signal
from vivero.core.bpmn.model import EscalationEvent, InnerEvent, SignalEvent
from vivero.core.bpmn.reading.draft import Draft, Member, Place
from vivero.core.bpmn.reading.references import SHARED_DEFINITIONS, EventReading, find_root
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import feel
from vivero.core.bpmn.reading.xml import Element, bpmn_children, split, text_of

BEHAVIORS = ("All", "None", "One", "Complex")
_REFERENCES = {"None": "noneBehaviorEventRef", "One": "oneBehaviorEventRef"}
_KINDS = {"signalEventDefinition": signal.KIND, "escalationEventDefinition": escalation.KIND}
_ONLY = "an inner instance throws a signal or an escalation"


def inner_events(activity: Member, marker: Element, draft: Draft) -> tuple[InnerEvent, ...]:
    """The events in the order in which each inner instance throws them. Wrong ones are reported."""
    behavior, report = marker.get("behavior", "All").strip(), draft.report
    if behavior not in BEHAVIORS:
        text = f"behavior: {quote(behavior)} is none of {', '.join(BEHAVIORS)}"
        report.add_problem(activity.element, text, at=marker)
    for name in _REFERENCES.values():
        if marker.get(name) is not None and name != _REFERENCES.get(behavior):
            text = f"{name} has no effect: with behavior={quote(behavior)} no inner instance throws its event"
            report.warn(activity.element, text, at=marker)
    definitions = bpmn_children(marker, "complexBehaviorDefinition")
    if behavior == "Complex":
        if not definitions:
            report.add_problem(activity.element, "behavior='Complex' needs a complexBehaviorDefinition", at=marker)
        return tuple(event for one in definitions for event in _complex(activity, one, draft))
    for one in definitions:
        text = f"complexBehaviorDefinition has no effect: with behavior={quote(behavior)} nothing evaluates it"
        report.warn(activity.element, text, at=one)
    return tuple(_referred(activity, marker, behavior, draft)) if behavior in _REFERENCES else ()


def _referred(activity: Member, marker: Element, behavior: str, draft: Draft) -> Iterator[InnerEvent]:
    name = _REFERENCES[behavior]
    reference = marker.get(name, "").strip()
    if not reference:
        text = f"behavior={quote(behavior)} needs a {name}: no boundary event catches a signal without a name"
        draft.report.add_problem(activity.element, text, at=marker)
        return
    named = (find_root(tag, reference, draft.roots) for tag in SHARED_DEFINITIONS)
    definition = next((one for one in named if one is not None), None)
    if definition is None:
        text = f"{name} {quote(reference)} is not an event definition of this file"
        draft.report.add_problem(activity.element, text, at=marker)
        return
    event = _event(activity, definition, marker, draft)
    if event is not None:
        yield InnerEvent(event, first_only=behavior == "One")


def _complex(activity: Member, definition: Element, draft: Draft) -> Iterator[InnerEvent]:
    """One event with its condition."""
    conditions, events = bpmn_children(definition, "condition"), bpmn_children(definition, "event")
    inside = [child for event in events for child in bpmn_children(event, *SHARED_DEFINITIONS)]
    if len(conditions) != 1 or len(events) != 1 or len(inside) != 1:
        text = "a complexBehaviorDefinition needs one condition, and one event with one event definition"
        draft.report.add_problem(activity.element, text, at=definition)
        return
    condition = feel(text_of(conditions[0]).strip(), "condition", activity.element, draft.report, at=conditions[0])
    event = _event(activity, inside[0], inside[0], draft)
    if condition is not None and event is not None:
        yield InnerEvent(event, condition=condition)


def _event(activity: Member, definition: Element, at: Element, draft: Draft) -> SignalEvent | EscalationEvent | None:
    tag = split(definition)[1]
    kind = _KINDS.get(tag)
    if kind is None:
        draft.report.add_problem(activity.element, f"{_ONLY}, and not a {tag}", at=at)
        return None
    event = kind.read(EventReading(activity.element, definition, Place.THROW, True, {}, activity.scope, draft))
    assert event is None or isinstance(event, SignalEvent | EscalationEvent), "the kinds read no others"
    return event
