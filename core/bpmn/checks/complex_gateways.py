"""The rules about complex gateways. BPMN 2.0.2 §10.6.5."""

from __future__ import annotations

from vivero.core.bpmn.elements.complex_gateways import ACTIVATION_CONDITION, WAITING_FOR_START
from vivero.core.bpmn.model import Flow
from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import bpmn_children


def complex_gateways(draft: Draft) -> None:
    """A gateway that joins needs an activation condition. One that has it evaluates its outgoing flows twice."""
    for member in draft.of_type("COMPLEX_GATEWAY"):
        has_condition = bool(bpmn_children(member.element, ACTIVATION_CONDITION))
        if not has_condition and len(draft.incoming.get(member.id, ())) > 1:
            text = "needs an activationCondition: it has several incoming flows"
            draft.report.add_problem(member.element, text)
        if has_condition:
            for flow in draft.outgoing.get(member.id, ()):
                _warn_of_second_token(draft.flows[flow], draft)


def _warn_of_second_token(flow: Flow, draft: Draft) -> None:
    """A condition that does not know the phase may be true in both."""
    if flow.condition is not None and WAITING_FOR_START not in flow.condition.variables:
        text = (
            f"its condition does not depend on {WAITING_FOR_START}: if it stays true, the flow gets a token when the "
            f"gateway {quote(flow.source)} starts, and another one when it resets"
        )
        draft.report.warn(draft.flow_of[flow.id], text)
