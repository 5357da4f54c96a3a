"""Embedded sub-process. BPMN 2.0.2 §13.3.4: it starts at its none start event, or without any start event at all flow
nodes that no flow leads to. It completes when no token remains in it and no activity in it is active, and then puts a
token on each outgoing flow.

In other files: event sub-processes, multi-instance.
"""

from __future__ import annotations

from vivero.core.bpmn.model import Node
from vivero.core.events import subscriptions
from vivero.core.records.effects import Effects
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(scope: Element, view: View) -> Effects:
    node, nodes = scope.node, view.model(scope.instance.definition_key).nodes
    if node.start is not None:
        return enter(nodes[node.start], scope, view)
    return _begin(scope, [nodes[id] for id in node.implicit_starts], view)


def _begin(scope: Element, starts: list[Node], view: View) -> Effects:
    """Enter all nodes. No start event completes here, so that the scope subscribes for its event sub-processes now."""
    yield from subscriptions.subscribe_event_sub_processes(scope, view)
    for node in starts:
        yield from enter(node, scope, view)
