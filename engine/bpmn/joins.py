"""From where in a scope an inclusive join can still be reached. BPMN 2.0.2 §13.4.3.

The join has to wait for a token that has a path to an empty incoming flow without visiting the gateway. Which incoming
flows a place has such paths to never changes, so it is computed once for each model, as one bit for each flow.
"""

from __future__ import annotations

from collections import Counter

from vivero.engine.bpmn.draft import Draft, Member
from vivero.engine.bpmn.model import FlowId, NodeId

Bits = dict[FlowId, int]
Reach = dict[str, int]


def join(gateway: Member, draft: Draft) -> tuple[Bits, Reach]:
    """The bit of each incoming flow, and for each flow and node of the scope the bits that are reached from there.

    Places that reach nothing are left out. Both are empty for a gateway with one incoming flow: it joins nothing.
    """
    incoming = draft.incoming.get(gateway.id, [])
    if len(incoming) < 2:
        return {}, {}
    bits = {flow: 1 << number for number, flow in enumerate(incoming)}
    reach: Reach = {}
    for flow, bit in bits.items():
        _mark(flow, bit, gateway.id, reach, draft)
    return bits, reach


def _mark(flow: FlowId, bit: int, gateway: NodeId, reach: Reach, draft: Draft) -> None:
    """Go back from an incoming flow, and mark every place on the way; the way ends at the gateway."""
    flows: list[FlowId] = [flow]
    nodes: list[NodeId] = []
    while flows or nodes:
        if flows:
            place = flows.pop()
            before = [draft.flows[place].source]
        else:
            place = nodes.pop()
            flows += [way for way in draft.incoming.get(place, ()) if not reach.get(way, 0) & bit]
            before = _before(place, draft)
        if reach.get(place, 0) & bit:
            continue
        reach[place] = reach.get(place, 0) | bit
        nodes += [node for node in before if node != gateway and not reach.get(node, 0) & bit]


def _before(node: NodeId, draft: Draft) -> list[NodeId]:
    """The nodes from which a token comes here without a sequence flow: a boundary event's host, throwing links."""
    throws = draft.link_throws.get(node, [])
    host = draft.hosts.get(node)
    return throws if host is None else [*throws, host]


def takes_joins(draft: Draft) -> bool:
    """Count what the joins of a process look at. False when that is too much for its file (reported once)."""
    places = Counter(member.scope for member in draft.members.values())
    places.update(draft.members[flow.source].scope for flow in draft.flows.values())
    sizes = (len(draft.incoming[join]) * places[scope] for scope, joins in draft.joins.items() for join in joins)
    return draft.report.takes_join_places(sum(sizes))
