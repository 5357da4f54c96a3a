"""Inclusive gateway. BPMN 2.0.2 §13.4.3: it joins when at least one incoming flow has a token and no token elsewhere in
the scope could still come to an incoming flow that is empty (unless it could come to one that is filled as well); it
consumes one token from each filled flow. It forks to every flow whose condition is true; the default flow is for none.

Tested at quiescence, whenever a token of the scope has moved, ended or was cancelled.
"""

from __future__ import annotations

from vivero.engine.bpmn.model import FlowId, Node
from vivero.engine.core.records.effects import Effects, Fail, IncidentType
from vivero.engine.core.records.instances import ElementCompleted
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def arrive(gateway: Node, flow: FlowId, scope: Element, at: View) -> Effects:
    """One incoming flow: it is no join. Otherwise the scope's settling decides."""
    if len(gateway.incoming) == 1:
        yield from enter(gateway, scope, at, consumes=(flow,))


def join(gateway: Node, scope: Element, at: View) -> Effects:
    """Enter the gateway if its tokens need wait for no other."""
    incoming, reach, tokens = gateway.bits, gateway.reach, scope.tokens
    filled = sum(bit for flow, bit in incoming.items() if flow in tokens)
    if not filled:
        return
    elsewhere = (reach.get(place, 0) for place in tokens if place not in incoming)
    if not any(reached & ~filled and not reached & filled for reached in elsewhere):
        yield from enter(gateway, scope, at, consumes=[flow for flow in incoming if flow in tokens])


def leave(gateway: Element, at: View) -> Effects:
    node = at.node(gateway)
    flows = at.model(gateway.instance.definition_key).flows
    taken = []
    for flow in node.outgoing:
        condition = flows[flow].condition
        if flow != node.default and (
            condition is None or at.typed(condition, gateway, bool, IncidentType.EXTRACT_VALUE_ERROR)
        ):
            taken.append(flow)
    if not taken and node.default is not None:
        taken = [node.default]
    if not taken and node.outgoing:
        raise Fail(
            IncidentType.CONDITION_ERROR,
            "Expected at least one condition to evaluate to true, or to have a default flow",
        )
    yield ElementCompleted(gateway.key, tuple(taken))
