"""References that name nothing, of elements that mean nothing for execution. BPMN 2.0.2 §8.4.13, §10.8.

The sequence flows alone say who follows whom. A reference of a flow node to a flow that does not exist shows that the
file is damaged: a flow is missing. Camunda rejects such a file.
"""

from __future__ import annotations

from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import BPMN, Element, bpmn_children, split, text_of


def report_dangling(draft: Draft) -> None:
    """Object to `incoming` and `outgoing` that name no sequence flow, and warn of lanes that name no flow node."""
    flows = {flow.get("id") for flow in draft.flow_elements}
    for member in draft.members.values():
        for child in bpmn_children(member.element, "incoming", "outgoing"):
            named = _named(child)
            if named not in flows and named.rpartition(":")[2] not in flows:
                text = f"{split(child)[1]} {quote(named)} is not a sequence flow of this process"
                draft.report.object_to(member.element, text, at=child)
    for lane in draft.process.iter(f"{{{BPMN}}}lane"):
        for child in bpmn_children(lane, "flowNodeRef"):
            named = _named(child)
            if named not in draft.members and named.rpartition(":")[2] not in draft.members:
                draft.report.warn(lane, f"flowNodeRef {quote(named)} is not a flow node of this process", at=child)


def _named(reference: Element) -> str:
    return text_of(reference).strip()
