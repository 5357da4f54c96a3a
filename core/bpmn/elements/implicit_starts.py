"""Processes and sub-processes without a start event. BPMN 2.0.2 §13.2: they begin at all flow nodes that no flow leads
to."""

from __future__ import annotations

from vivero.core.bpmn.elements.ad_hoc import activatable
from vivero.core.bpmn.model import NodeId
from vivero.core.bpmn.reading.draft import Draft


def implicit_starts(scope: NodeId, draft: Draft) -> tuple[NodeId, ...]:
    """The nodes with which a scope begins; none if it has a start event. Catching link events are not among them."""
    if draft.starts.get(scope):
        return ()
    links = set(draft.links.values())
    return tuple(member.id for member in activatable(scope, draft) if member.id not in links)
