"""Event-based gateway. BPMN 2.0.2 §10.6.6: its token waits for the events behind it and continues at the first that
occurs. The gateway itself holds the timers and subscriptions. The engine enters the winner as an event that has
already occurred.

A gateway that starts the process (`instantiate`) is never entered: the process begins at the event behind it that has
occurred, and awaits the others if the gateway is parallel (`process`).
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted, ElementCompleting, EventTriggered
from vivero.core.shared import waits
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def awaits(node: Node, model: Process) -> Iterator[Node]:
    for flow in node.outgoing:
        yield model.nodes[model.flows[flow].target]


def activate(gateway: Element, view: View) -> Effects:
    return iter(())


def trigger(gateway: Element, node: Node, variables: dict[str, str], view: View) -> Effects:
    scope = gateway.scope
    assert scope is not None, "a gateway has a scope"
    yield EventTriggered(gateway.key, node.id)
    yield from waits.close(gateway)
    yield ElementCompleting(gateway.key)
    yield ElementCompleted(gateway.key)
    yield from enter(node, scope, view, occurred=variables)
