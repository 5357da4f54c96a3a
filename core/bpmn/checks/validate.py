"""The rules about how elements combine. `RULES` lists them; each examines the whole draft.

Every rule reports models that cannot be executed as drawn. Mere oddities, such as an unreachable node, are warnings.
"""

from __future__ import annotations

from collections.abc import Callable

from vivero.core.bpmn.checks import compensations, event_rules
from vivero.core.bpmn.checks.ad_hoc import ad_hoc_sub_processes
from vivero.core.bpmn.checks.attributes import warn_of_attributes
from vivero.core.bpmn.checks.complex_gateways import complex_gateways
from vivero.core.bpmn.checks.content import check_content
from vivero.core.bpmn.checks.dangling import report_dangling
from vivero.core.bpmn.checks.reach import tell_unreached
from vivero.core.bpmn.model import Flow
from vivero.core.bpmn.reading.draft import Draft, Member
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import bpmn_children


def validate(draft: Draft) -> None:
    """Report the problems of the process as a whole."""
    for rule in RULES:
        rule(draft)


def _ends_of_the_path(draft: Draft) -> None:
    """No flow leads to a start event, and none leaves an end event. BPMN 2.0.2 §10.5.2, §10.5.3."""
    for flow in draft.flows.values():
        if draft.members[flow.target].tag == "startEvent":
            draft.report.add_problem(draft.flow_of[flow.id], f"leads to the start event {quote(flow.target)}")
        if draft.members[flow.source].tag == "endEvent":
            draft.report.add_problem(draft.flow_of[flow.id], f"leaves the end event {quote(flow.source)}")


def _conditions(draft: Draft) -> None:
    """Activities and gateways that choose evaluate conditions. BPMN 2.0.2 §8.4.13, §13.3.1.

    Such a gateway needs one on every flow except its default flow. A complex gateway takes others in its first phase.
    """
    for flow in draft.flows.values():
        source = draft.members[flow.source]
        if source.kind is None:
            continue
        if not source.kind.takes_conditions and flow.condition is not None:
            text = (
                "a condition is evaluated only on a flow that leaves an activity or an exclusive, inclusive or complex "
                "gateway"
            )
            draft.report.add_problem(draft.flow_of[flow.id], text)
        if source.kind.chooses and _lacks_condition(flow, source, draft):
            text = f"needs a condition, or to be the default flow of {quote(source.id)}"
            draft.report.add_problem(draft.flow_of[flow.id], text)


def _lacks_condition(flow: Flow, source: Member, draft: Draft) -> bool:
    """Whether a flow lacks a condition. A gateway's only flow needs none, and invalid ones are already reported."""
    if source.tag == "complexGateway":
        return False
    if len(draft.outgoing[source.id]) == 1 or source.element.get("default") == flow.id:
        return False
    return not bpmn_children(draft.flow_of[flow.id], "conditionExpression")


def _defaults(draft: Draft) -> None:
    """A default flow leaves the activity or gateway that names it. BPMN 2.0.2 §8.4.13."""
    for member in draft.members.values():
        default = member.element.get("default")
        if default is None or member.kind is None:
            continue
        if not member.kind.takes_conditions:
            draft.report.add_problem(
                member.element,
                "a default flow is taken only from an activity or an exclusive, inclusive or complex gateway",
            )
        elif default not in draft.outgoing.get(member.id, ()):
            draft.report.add_problem(member.element, f"the default flow {quote(default)} does not leave this element")


def _names(draft: Draft) -> None:
    limit = draft.report.limits.name_length
    for element in (draft.process, *(member.element for member in draft.members.values())):
        if len(element.get("name", "")) > limit:
            draft.report.add_problem(element, f"the name has more than {limit} characters")


RULES: tuple[Callable[[Draft], None], ...] = (
    event_rules.starts,
    _ends_of_the_path,
    _conditions,
    _defaults,
    event_rules.definitions,
    event_rules.event_sub_processes,
    event_rules.own_rules,
    event_rules.boundaries,
    event_rules.duplicates,
    event_rules.event_based_gateways,
    event_rules.receive_tasks,
    ad_hoc_sub_processes,
    complex_gateways,
    compensations.check,
    _names,
    check_content,
    report_dangling,
    tell_unreached,
    warn_of_attributes,
)
