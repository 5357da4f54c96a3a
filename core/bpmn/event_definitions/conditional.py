"""Conditional events. BPMN 2.0.2 §10.5.5: a condition over variables, in FEEL; `zeebe:conditionalFilter` says which
changes of them count."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import CAUGHT, EventKind
from vivero.core.bpmn.model import ConditionalEvent
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of
from vivero.core.bpmn.reading.extensions import CONDITIONAL
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import feel
from vivero.core.bpmn.reading.xml import bpmn_children, text_of
from vivero.core.texts.fields import listed

CHANGES = frozenset({"create", "update"})


def _read(reading: EventReading) -> ConditionalEvent | None:
    found = bpmn_children(reading.definition, "condition")
    if len(found) != 1:
        reading.add_problem(f"a conditional event needs one condition, and has {len(found)}")
        return None
    condition = feel(text_of(found[0]), "condition", reading.owner, reading.report, at=found[0])
    changes = _changes(reading)
    if condition is None or changes is None:
        return None
    names = _list(reading, "variableNames")
    return ConditionalEvent(condition, names & condition.variables if names else condition.variables, changes)


def _changes(reading: EventReading) -> frozenset[str] | None:
    changes = _list(reading, "variableEvents")
    unknown = sorted(changes - CHANGES)
    if unknown:
        reading.add_problem(f"variableEvents: {quote(unknown[0])} is neither create nor update")
        return None
    return changes or CHANGES


def _list(reading: EventReading, attribute: str) -> frozenset[str]:
    """The list of an attribute of the filter, separated by commas; empty without a filter."""
    conditional_filter = reading.extensions.get("conditionalFilter")
    text = "" if conditional_filter is None else conditional_filter.get(attribute, "")
    return frozenset(listed(text))


def _check(member: Member, draft: Draft) -> None:
    """Report a second start event of a process with the same condition, because both would start at once."""
    if draft.place_of(member) is Place.PROCESS_START:
        for other in draft.starts.get(member.scope, ()):
            if other is member:
                return
            if _condition_of(other) == _condition_of(member):
                draft.report.add_problem(member.element, f"{quote(other.id)} waits for this condition already")


def _condition_of(member: Member) -> str | None:
    found = definition_of(member.element)
    conditions = [] if found is None else bpmn_children(found[1], "condition")
    return text_of(conditions[0]) if len(conditions) == 1 else None


KIND = EventKind(
    "a conditional event",
    CAUGHT,
    _read,
    frozenset({"condition"}),
    behind_gateway=True,
    definition_extensions=CONDITIONAL,
    check=_check,
)
