"""The default behaviour of elements.

BPMN 2.0.2 §13.2: each arriving token activates a flow node. When the node completes, it puts a token on each outgoing
sequence flow (implicit fork). Without outgoing flows the token ends there (implicit end).
"""

from __future__ import annotations

from vivero.core.bpmn.model import FlowId, Node
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted, ElementCompleting, EventTriggered
from vivero.core.shared.flows import chosen_flows, enter
from vivero.core.shared.start_elements import activate_elements
from vivero.core.shared.variables import merge_texts, set_texts
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def arrive(node: Node, flow: FlowId, scope: Element, view: View) -> Effects:
    """A token arrived on `flow`: consume it and enter the node. An activity may need several tokens (§13.3.2)."""
    if node.start_quantity == 1:
        return enter(node, scope, view, consumes=(flow,))
    tokens = [one for one in node.incoming for _ in range(scope.tokens.get(one, 0))]
    if len(tokens) < node.start_quantity:
        return ()
    return enter(node, scope, view, consumes=tokens[: node.start_quantity])


def activate(element: Element, view: View) -> Effects:
    """Complete at once."""
    return (ElementCompleting(element.key),)


begin = activate_elements
"""Begin a scope with elements inside instead of with its start event. Called with the scope, their ids and the view."""

collect = None
"""Called with the scope, a completing child and the view."""

proceed = None
"""Called like `collect`, for the effects that follow the completion of the child."""


def settle(scope: Element, view: View) -> Effects:
    """The scope is quiet: complete it if it holds no token."""
    return () if scope.tokens else (ElementCompleting(scope.key),)


awaits = None
"""Called with the element's node and model; gives the nodes whose events the element itself waits for."""


def trigger(element: Element, node: Node, variables: dict[str, str], view: View) -> Effects:
    """The awaited event of `node` has occurred with `variables` (JSON text): complete the element."""
    yield EventTriggered(element.key, node.id)
    if view.node(element).outputs:
        yield from set_texts(element, variables, view)
    else:
        yield from merge_texts(element, variables, view)
    yield ElementCompleting(element.key)


def join(_gateway: Node, _scope: Element, _view: View) -> Effects:
    """Enter the gateway if its waiting tokens allow it. The scope calls it for each of its `joins` when it settles."""
    return ()


def leave(element: Element, view: View) -> Effects:
    """Put a token, or as many as the model says (§13.3.2), on each outgoing flow or on those that conditions choose.

    In a loop only the body does so. Conditions see the variables around an activity, and the results of a loop.
    """
    node = element.node
    if node.is_plain:
        return (ElementCompleted(element.key, node.outgoing),)
    if element.is_inner:
        return (ElementCompleted(element.key),)
    flows = node.outgoing
    if node.conditional:
        seen_from = element if element.loop is not None else element.outer() or element
        flows = chosen_flows(element, seen_from, view)
    return (ElementCompleted(element.key, flows * node.completion_quantity),)
