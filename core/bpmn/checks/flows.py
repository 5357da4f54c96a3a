"""Sequence flows.

The nodes' `incoming` and `outgoing` come from the flows alone. The child elements of these names are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from vivero.core.bpmn.model import Flow, FlowId
from vivero.core.bpmn.reading.draft import Draft, Member
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import feel
from vivero.core.bpmn.reading.xml import Element, bpmn_children, line_of, text_of
from vivero.core.feel import Expression


def link_flows(draft: Draft) -> None:
    """Fill in the flows, incoming and outgoing of the draft. BPMN 2.0.2 §8.4.13."""
    name = _namer(draft)
    for element in draft.flow_elements:
        source, target = _end(element, "sourceRef", draft), _end(element, "targetRef", draft)
        condition = None if _is_ignored(source, element, draft) else _condition(element, draft)
        if source is None or target is None:
            continue
        if source.scope != target.scope:
            draft.report.add_problem(
                element, f"leads from {quote(source.id)} to {quote(target.id)} across a scope's border"
            )
            continue
        flow_id = element.get("id") or name(f"{source.id}-{target.id}")
        if flow_id == source.element.get("default"):
            condition = None  # is never evaluated; so nobody needs to know that
        _connect(Flow(flow_id, source.id, target.id, condition, line_of(element)), element, draft)


def _is_ignored(source: Member | None, element: Element, draft: Draft) -> bool:
    """Whether the flow leaves a parallel gateway, which takes all its flows. Other tools write conditions there."""
    if source is None or source.tag != "parallelGateway":
        return False
    for condition in bpmn_children(element, "conditionExpression"):
        text = f"the parallel gateway {quote(source.id)} takes all its flows: this condition has no effect"
        draft.report.warn(element, text, at=condition)
    return True


def _end(element: Element, name: str, draft: Draft) -> Member | None:
    reference = element.get(name, "").strip()
    member = draft.members.get(reference)
    if not reference:
        draft.report.add_problem(element, f"the sequence flow needs a {name}")
    elif member is None:
        draft.report.add_problem(element, f"{name} {quote(reference)} is not a flow node of this process")
    return member


def _connect(flow: Flow, element: Element, draft: Draft) -> None:
    draft.flows[flow.id] = flow
    draft.flow_of[flow.id] = element
    draft.outgoing.setdefault(flow.source, []).append(flow.id)
    draft.incoming.setdefault(flow.target, []).append(flow.id)


def _namer(draft: Draft) -> Callable[[str], FlowId]:
    """BPMN allows sequence flows without an id. Such a flow is named after its ends, the same on every reading."""
    taken = draft.members.keys() | {flow.get("id") for flow in draft.flow_elements}
    numbers: Counter[str] = Counter()

    def name(stem: str) -> FlowId:
        while True:
            numbers[stem] += 1
            candidate = stem if numbers[stem] == 1 else f"{stem}-{numbers[stem]}"
            if candidate not in taken:
                taken.add(candidate)
                return candidate

    return name


def _condition(element: Element, draft: Draft) -> Expression | None:
    """The text decides, not the `language` attribute, because modelers write all kinds of languages there."""
    conditions = bpmn_children(element, "conditionExpression")
    if not conditions:
        return None
    if len(conditions) > 1:
        draft.report.add_problem(element, "has more than one condition", at=conditions[1])
        return None
    return feel(text_of(conditions[0]), "condition", element, draft.report, at=conditions[0])
