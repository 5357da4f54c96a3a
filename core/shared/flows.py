"""Enter elements with tokens, and choose the flows on which they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vivero.core.bpmn.model import FlowId, Node
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.instances import ElementActivating
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def enter(
    node: Node, scope: Element, view: View, consumes: Sequence[str] = (), occurred: dict[str, str] | None = None
) -> Effects:
    """Activate `node` in `scope`. One event carries the decision and the consumed tokens (docs/design/execution.md §3).

    `occurred`: the node is an event that has already occurred, with these variables (JSON text).
    """
    key = view.key()
    return (ElementActivating(key, scope.key, node.id, node.entered_as, tuple(consumes), -1, node.name, occurred),)


def enter_inner(node: Node, body: Element, index: int, view: View) -> Effects:
    """Activate one inner instance of a multi-instance activity."""
    return (ElementActivating(view.key(), body.key, node.id, node.type, (), index, node.name),)


def chosen_flows(element: Element, seen_from: Element, view: View) -> tuple[FlowId, ...]:
    """The outgoing flows of an activity or an inclusive gateway that get a token, in document order.

    They are the flows without a condition and those whose condition is true. If no condition is true, the default flow
    is one of them. BPMN 2.0.2 §13.3.1, §13.4.3. `seen_from`: the element whose variables the conditions see.

    Raises:
        Fail: no flow gets a token, or a condition is not a boolean.
    """
    node, flows = view.node(element), view.model(element.instance.definition_key).flows
    true = flows_with_true_conditions(element, seen_from, view)
    free = [flow for flow in node.outgoing if flow != node.default and flows[flow].condition is None]
    taken = {*true, *free} if true or node.default is None else {*free, node.default}
    if node.outgoing and not taken:
        raise no_flow()
    return tuple(flow for flow in node.outgoing if flow in taken)


def flows_with_true_conditions(
    element: Element, seen_from: Element, view: View, extra: Mapping[str, Any] = {}
) -> list[FlowId]:
    """The outgoing flows whose condition is true, with `extra` before the variables that `seen_from` sees.

    Raises:
        Fail: a condition is not a boolean.
    """
    flows = view.model(element.instance.definition_key).flows
    conditions = ((flow, flows[flow].condition) for flow in view.node(element).outgoing)
    return [
        flow
        for flow, condition in conditions
        if condition is not None and view.expressions.typed(condition, seen_from, bool, extra=extra)
    ]


def no_flow() -> Fail:
    """The failure of an element that has outgoing flows and may take none of them."""
    return Fail(
        IncidentType.CONDITION_ERROR,
        "Expected at least one condition to evaluate to true, or to have a default flow",
    )
