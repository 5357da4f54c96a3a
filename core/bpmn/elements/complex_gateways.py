"""The activation condition of a complex gateway. BPMN 2.0.2 §10.6.5."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.conditional import CHANGES
from vivero.core.bpmn.model import ConditionalEvent
from vivero.core.bpmn.reading.draft import Draft, Member
from vivero.core.bpmn.reading.values import feel
from vivero.core.bpmn.reading.xml import bpmn_children, text_of
from vivero.core.feel import Expression

ACTIVATION_CONDITION = "activationCondition"
WAITING_FOR_START = "waitingForStart"
ATTRIBUTES = frozenset({"activationCount", "activationCounts", WAITING_FOR_START})
"""Names that the conditions of a gateway see beside variables."""


def activation_condition(member: Member, draft: Draft) -> Expression | None:
    """None if the gateway has none, or an invalid one (reported)."""
    found = bpmn_children(member.element, ACTIVATION_CONDITION)
    for surplus in found[1:]:
        draft.report.add_problem(member.element, "has more than one activationCondition", at=surplus)
    if not found:
        return None
    return feel(text_of(found[0]).strip(), ACTIVATION_CONDITION, member.element, draft.report, at=found[0])


def watched(activation: Expression | None) -> ConditionalEvent | None:
    """The condition with its variables, if it depends on any."""
    if activation is None or activation.variables <= ATTRIBUTES:
        return None
    return ConditionalEvent(activation, activation.variables - ATTRIBUTES, CHANGES)
