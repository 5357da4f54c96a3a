"""Parallel gateway. BPMN 2.0.2 §13.4.1: it is activated when each incoming sequence flow has at least one token. It
consumes exactly one token from each, leaves surplus tokens, and produces one token on each outgoing flow.
"""

from __future__ import annotations

from vivero.core.bpmn.model import FlowId, Node
from vivero.core.records.effects import Effects
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def arrive(gateway: Node, flow: FlowId, scope: Element, view: View) -> Effects:
    if all(scope.tokens.get(incoming) for incoming in gateway.incoming):
        yield from enter(gateway, scope, view, consumes=gateway.incoming)
