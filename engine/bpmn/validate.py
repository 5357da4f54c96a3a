"""The rules about how elements stand together. `RULES` is all of them; each looks at the whole draft.

Every rule names a model that could not be executed as drawn. What is merely odd (a node that nothing leads to) is fine.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.bpmn.draft import Draft, Member, event_definitions, is_none_event
from engine.bpmn.model import Flow
from engine.bpmn.report import quote
from engine.bpmn.values import flag
from engine.bpmn.xml import bpmn_children, split


def validate(draft: Draft) -> None:
    """Report what is wrong with the process as a whole."""
    for rule in RULES:
        rule(draft)


def _one_start(draft: Draft) -> None:
    """A scope starts at its none start event: one and only one. BPMN 2.0.2 §10.5.2, §10.3.5."""
    for scope, element in draft.containers.items():
        starts = draft.starts.get(scope, [])
        if not starts and split(element)[1] != "adHocSubProcess":
            draft.report.refuse(element, "needs a start event")
        none_starts = [start for start in starts if is_none_event(start.element)]
        for surplus in none_starts[1:]:
            text = f"a second none start event: {quote(none_starts[0].id)} is one already"
            draft.report.refuse(surplus.element, text)


def _ends_of_the_path(draft: Draft) -> None:
    """Nothing leads to a start event and nothing leaves an end event. BPMN 2.0.2 §10.5.2, §10.5.3."""
    for flow in draft.flows.values():
        if draft.members[flow.target].tag == "startEvent":
            draft.report.refuse(draft.flow_of[flow.id], f"leads to the start event {quote(flow.target)}")
        if draft.members[flow.source].tag == "endEvent":
            draft.report.refuse(draft.flow_of[flow.id], f"leaves the end event {quote(flow.source)}")


def _conditions(draft: Draft) -> None:
    """Only a gateway that chooses evaluates conditions, and it needs one on every flow but its default."""
    for flow in draft.flows.values():
        source = draft.members[flow.source]
        if source.kind is None:
            continue
        if not source.kind.chooses and flow.condition is not None:
            text = "a condition is evaluated only on a flow that leaves an exclusive gateway"
            draft.report.refuse(draft.flow_of[flow.id], text)
        if source.kind.chooses and _lacks_condition(flow, source, draft):
            text = f"needs a condition, or to be the default flow of {quote(source.id)}"
            draft.report.refuse(draft.flow_of[flow.id], text)


def _lacks_condition(flow: Flow, source: Member, draft: Draft) -> bool:
    """A flow that is the only one needs none: nothing is chosen. One that does not parse is reported already."""
    if len(draft.outgoing[source.id]) == 1 or source.element.get("default") == flow.id:
        return False
    return not bpmn_children(draft.flow_of[flow.id], "conditionExpression")


def _defaults(draft: Draft) -> None:
    """A default flow leaves the gateway that names it. BPMN 2.0.2 §8.4.13."""
    for member in draft.members.values():
        default = member.element.get("default")
        if default is None or member.kind is None:
            continue
        if not member.kind.chooses:
            draft.report.refuse(member.element, "a default flow is taken only from an exclusive gateway")
        elif default not in draft.outgoing.get(member.id, ()):
            draft.report.refuse(member.element, f"the default flow {quote(default)} does not leave this gateway")


def _activities(draft: Draft) -> None:
    """Attributes of activities that would change how often and when they run. BPMN 2.0.2 §10.3, table 10.3."""
    for member in draft.members.values():
        if member.kind is None or not member.kind.activity:
            continue
        if flag(member.element, "isForCompensation", draft.report):
            draft.report.refuse(member.element, "a compensation handler is not executable yet")
        for name in ("startQuantity", "completionQuantity"):
            if member.element.get(name, "1").strip() != "1":
                draft.report.refuse(member.element, f"{name} other than 1 is not executable")


def _events(draft: Draft) -> None:
    """An event has one event definition or none; several are BPMN's multiple event."""
    for member in draft.members.values():
        definitions = event_definitions(member.element)
        if len(definitions) > 1:
            text = f"has {len(definitions)} event definitions; more than one is not executable"
            draft.report.refuse(member.element, text, at=definitions[1])


def _event_sub_processes(draft: Draft) -> None:
    for member in draft.members.values():
        if member.tag == "subProcess" and flag(member.element, "triggeredByEvent", draft.report):
            draft.report.refuse(member.element, "an event sub-process is not executable yet")


def _names(draft: Draft) -> None:
    limit = draft.report.limits.name_length
    for element in (draft.process, *(member.element for member in draft.members.values())):
        if len(element.get("name", "")) > limit:
            draft.report.refuse(element, f"the name has more than {limit} characters")


RULES: tuple[Callable[[Draft], None], ...] = (
    _one_start,
    _ends_of_the_path,
    _conditions,
    _defaults,
    _activities,
    _events,
    _event_sub_processes,
    _names,
)
