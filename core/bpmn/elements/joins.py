"""The places of a scope from which an inclusive join can be reached. BPMN 2.0.2 §13.4.3.

The join waits for each token that has a path to an empty incoming flow without visiting the gateway. The incoming flows
that a place has such paths to never change, so they are computed once for each model, with one bit for each flow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vivero.core.bpmn.model import FlowId, NodeId
from vivero.core.bpmn.reading.draft import Draft, Member

Bits = dict[FlowId, int]
Reach = dict[str, int]


def join(gateway: Member, draft: Draft) -> tuple[Bits, Reach]:
    """The bit of each incoming flow, and for each flow and node of the scope the bits that it reaches.

    Places that reach nothing are left out. Both are empty for a gateway with one incoming flow, which joins nothing.
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
    """Go back from an incoming flow to the gateway, and mark every place on the way."""
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
    """The nodes from which a token comes without a sequence flow: the host of a boundary event, throwing links."""
    throws = draft.link_throws.get(node, [])
    host = draft.hosts.get(node)
    return throws if host is None else [*throws, host]


def merges(scope: NodeId, draft: Draft) -> Reach:
    """The bits of the nodes with several incoming flows that each place of an ad-hoc sub-process reaches."""
    reach: Reach = {}
    for number, node in enumerate(_merging(scope, draft)):
        for flow in draft.incoming[node]:
            _mark(flow, 1 << number, node, reach, draft)
    return reach


def _merging(scope: NodeId, draft: Draft) -> Iterator[NodeId]:
    return (node.id for node in draft.children.get(scope, ()) if len(draft.incoming.get(node.id, ())) > 1)


def takes_joins(draft: Draft) -> bool:
    """Count the places that the joins of a process examine. False if they are too many for the file (reported once)."""
    places = Counter({scope: len(nodes) for scope, nodes in draft.children.items()})
    places.update(draft.members[flow.source].scope for flow in draft.flows.values())
    scopes = [(scope, join) for scope, joins in draft.joins.items() for join in joins]
    for ad_hoc in draft.of_type("AD_HOC_SUB_PROCESS"):
        scopes += [(ad_hoc.id, node) for node in _merging(ad_hoc.id, draft)]
    return draft.report.takes_join_places(sum(_size(join, draft) * places[scope] for scope, join in scopes))


def _size(join: NodeId, draft: Draft) -> int:
    """The number of incoming flows. A complex gateway may have an activation condition and none."""
    return len(draft.incoming.get(join, ()))
