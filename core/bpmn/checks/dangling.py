"""References that name nothing, of elements that mean nothing for execution. BPMN 2.0.2 §8.4.13, §10.8.

The sequence flows alone say who follows whom. A reference of a flow node to a flow that does not exist shows that the
file is damaged: a flow is missing. Camunda rejects such a file.
"""

from __future__ import annotations

from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import BPMN, Element, bpmn_children, split, text_of

_END = {"incoming": "targetRef", "outgoing": "sourceRef"}


def report_dangling(draft: Draft) -> None:
    """Object to `incoming` and `outgoing` that name no sequence flow, and warn of those that contradict one."""
    flows = {flow.get("id"): flow for flow in draft.flow_elements}
    for member in draft.members.values():
        for child in bpmn_children(member.element, "incoming", "outgoing"):
            named, tag = _named(child), split(child)[1]
            flow = flows.get(named, flows.get(named.rpartition(":")[2]))
            if flow is None:
                text = f"{tag} {quote(named)} is not a sequence flow of this process"
                draft.report.object_to(member.element, text, at=child)
            elif flow.get(_END[tag], "").strip() != member.id:
                text = f"{tag} {quote(named)} is a flow that this element is no {_END[tag]} of: the flow alone counts"
                draft.report.warn(member.element, text, at=child)
    for lane_set in draft.process.iter(f"{{{BPMN}}}laneSet", f"{{{BPMN}}}childLaneSet"):
        _warn_of_lanes(lane_set, draft)


def _warn_of_lanes(lane_set: Element, draft: Draft) -> None:
    """A lane contains flow nodes or lanes, and two lanes of one set divide them between themselves."""
    lane_of: dict[str, Element] = {}
    for lane in bpmn_children(lane_set, "lane"):
        references = bpmn_children(lane, "flowNodeRef")
        if not references and not bpmn_children(lane, "childLaneSet"):
            draft.report.warn(lane, "the lane names no flow node")
        for reference in references:
            named = _named(reference)
            node = draft.named(named)
            if node is None:
                draft.report.warn(lane, f"flowNodeRef {quote(named)} is not a flow node of this process", at=reference)
            elif (before := lane_of.setdefault(node, lane)) is not lane:
                text = f"flowNodeRef {quote(named)} is in the lane {quote(before.get('id', ''))}, too"
                draft.report.warn(lane, text, at=reference)


def _named(reference: Element) -> str:
    return text_of(reference).strip()
