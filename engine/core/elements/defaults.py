"""What an element does unless its own file says otherwise.

BPMN 2.0.2 §13.2: a flow node is activated by each token that arrives, and when it completes it puts a token on each
outgoing sequence flow (implicit fork); with none, the token ends there (implicit end).
"""

from __future__ import annotations

from vivero.engine.bpmn.model import FlowId, Node
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleted, ElementCompleting, EventTriggered
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.shared.variables import merge_texts, set_texts
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def arrive(node: Node, flow: FlowId, scope: Element, at: View) -> Effects:
    """A token came over `flow`: enter the node and consume it."""
    return enter(node, scope, at, consumes=(flow,))


def activate(element: Element, at: View) -> Effects:
    """Nothing to wait for: complete at once."""
    return (ElementCompleting(element.key),)


collect = None
"""A child of the scope completes: a function of the scope, the child and the view."""


def settle(scope: Element, at: View) -> Effects:
    """The scope's work is quiet: it completes when it holds no token."""
    return () if scope.tokens else (ElementCompleting(scope.key),)


awaits = None
"""What the element itself waits for: a function of its node and model, giving the nodes whose events those are."""


def trigger(element: Element, node: Node, variables: dict[str, str], at: View) -> Effects:
    """What the element waits for has happened, bringing `variables` (JSON text): it completes."""
    yield EventTriggered(element.key, node.id)
    if at.node(element).outputs:
        yield from set_texts(element, variables, at)
    else:
        yield from merge_texts(element, variables, at)
    yield ElementCompleting(element.key)


def join(_gateway: Node, _scope: Element, _at: View) -> Effects:
    """Whether tokens that wait in front of it may enter; asked of the scope's `joins` whenever the scope settles."""
    return ()


def leave(element: Element, at: View) -> Effects:
    """Put a token on every outgoing flow; those of a loop are its body's."""
    return (ElementCompleted(element.key, () if element.is_inner else element.node.outgoing),)
