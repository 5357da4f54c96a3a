"""Inclusive gateway. BPMN 2.0.2 §13.4.3: it joins when at least one incoming flow has a token, and no token elsewhere
in the scope can reach an empty incoming flow unless it can also reach a filled one. It consumes one token from each
filled flow. It forks to every flow whose condition is true, or to the default flow if no condition is.

The engine checks the join when the scope is quiet, after a token of the scope has moved, ended or been cancelled.
"""

from __future__ import annotations

from vivero.core.bpmn.model import FlowId, Node
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted
from vivero.core.shared.flows import chosen_flows, enter
from vivero.core.shared.joins import awaits_tokens
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def arrive(gateway: Node, flow: FlowId, scope: Element, view: View) -> Effects:
    """With one incoming flow there is no join: enter. Otherwise `join` decides when the scope settles."""
    if len(gateway.incoming) == 1:
        yield from enter(gateway, scope, view, consumes=(flow,))


def join(gateway: Node, scope: Element, view: View) -> Effects:
    """Enter the gateway if its tokens need not wait for others."""
    filled = [flow for flow in gateway.bits if flow in scope.tokens]
    if filled and not awaits_tokens(gateway, scope, sum(map(gateway.bits.__getitem__, filled))):
        yield from enter(gateway, scope, view, consumes=filled)


def leave(gateway: Element, view: View) -> Effects:
    yield ElementCompleted(gateway.key, chosen_flows(gateway, gateway, view))
