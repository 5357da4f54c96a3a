"""Processes and sub-processes without a start event. BPMN 2.0.2 §13.2: they begin at all flow nodes that no flow leads
to; or receive tasks and event-based gateways instantiate the process."""

from __future__ import annotations

from typing import Any

from vivero.core.bpmn.elements.ad_hoc import activatable
from vivero.core.bpmn.model import NodeId
from vivero.core.bpmn.reading.draft import Draft, Member


def implicit_starts(scope: NodeId, draft: Draft) -> tuple[NodeId, ...]:
    """The nodes with which a scope begins; none if it has a start event, or an element that instantiates the process.

    Catching link events are not among them."""
    if draft.starts.get(scope) or instantiating(scope, draft):
        return ()
    links = set(draft.links.values())
    return tuple(member.id for member in activatable(scope, draft) if member.id not in links)


def instantiating(scope: NodeId, draft: Draft) -> tuple[NodeId, ...]:
    """The receive tasks and event-based gateways in a scope that start the process. §10.3.3, §10.6.6."""
    return tuple(member.id for member in draft.children.get(scope, ()) if draft.instantiates(member))


def process_start(member: Member, draft: Draft) -> dict[str, Any]:
    """The fields of the node of an event or receive task that says how it starts the process."""
    if not draft.starts_process(member):
        return {}
    gateway, beside = draft.instantiating_gateway(member), tuple[NodeId, ...]()
    if gateway is not None and gateway.element.get("eventGatewayType") == "Parallel":
        targets = (draft.flows[flow].target for flow in draft.outgoing[gateway.id])
        beside = tuple(target for target in targets if target != member.id)
    return {"starts_process": True, "awaited_beside": beside}
