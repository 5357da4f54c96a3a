"""Complex gateway. BPMN 2.0.2 §10.6.5, §13.4.5: it starts when its activation condition is true, and consumes one token
from each filled incoming flow. Then it waits for reset: until no token elsewhere in the scope can reach an incoming
flow that gave none. It resets, and consumes one token from each of those flows that is filled now. In both phases it
evaluates the conditions of its outgoing flows, and the condition can tell the phases apart.

The engine evaluates the activation condition when the scope is quiet, after a token of the scope has moved or a
variable of the condition has changed. A flow without a condition gets a token in the first phase only (docs/adr/0076).
Without an activation condition a gateway has one incoming flow, and forks each token like an inclusive gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.core.bpmn.model import FlowId, Node
from vivero.core.feel import from_json
from vivero.core.records.complex_gateways import ComplexGatewayReset, ComplexGatewayStarted
from vivero.core.records.effects import Effects, Fail
from vivero.core.records.instances import ElementCompleted
from vivero.core.records.messages import SubscriptionOpened
from vivero.core.shared import waits
from vivero.core.shared.flows import enter, flows_with_true_conditions, no_flow
from vivero.core.shared.joins import awaits_tokens
from vivero.core.state.instance_tree import Element
from vivero.core.state.subscription_index import WATCHING
from vivero.core.view import View

WAITING_FOR_START = "waitingForStart"


def arrive(gateway: Node, flow: FlowId, scope: Element, view: View) -> Effects:
    """Without an activation condition there is no join: enter. Otherwise `join` decides when the scope settles."""
    if gateway.activation is None:
        yield from enter(gateway, scope, view, (flow,), _texts(_attributes({flow: 1}, True), view))


def join(gateway: Node, scope: Element, view: View) -> Effects:
    """Start the gateway, or reset it."""
    consumed = scope.awaiting_reset.get(gateway.id)
    return _start(gateway, scope, view) if consumed is None else _reset(gateway, consumed, scope, view)


def _start(gateway: Node, scope: Element, view: View) -> Effects:
    filled = tuple(flow for flow in gateway.incoming if flow in scope.tokens)
    if not filled or _has_failed(gateway, scope):
        return
    attributes = _attributes(_counts(gateway, scope), True)
    if not _is_activated(gateway, scope, attributes, view):
        yield from _watch(gateway, scope, view)
        return
    yield from waits.close(scope, (gateway.id,))
    yield ComplexGatewayStarted(scope.key, gateway.id, filled)
    yield from enter(gateway, scope, view, filled, _texts(attributes, view))


def _has_failed(gateway: Node, scope: Element) -> bool:
    """Whether the activation condition has failed, and its incident is open."""
    return any(one.stage == "settle" and one.argument == gateway.id for one in scope.waits.incidents.values())


def _is_activated(gateway: Node, scope: Element, attributes: Mapping[str, Any], view: View) -> bool:
    assert gateway.activation is not None, "a gateway without a condition joins nothing"
    try:
        return view.expressions.typed(gateway.activation, scope, bool, extra=attributes) is True
    except Fail as failure:
        text = f"The complex gateway '{gateway.id}' cannot evaluate its activation condition. {failure.message}"
        raise Fail(failure.type, text) from failure


def _watch(gateway: Node, scope: Element, view: View) -> Effects:
    """Let the scope settle again when a variable of the condition changes."""
    if gateway.event is not None and all(one.target != gateway.id for one in scope.waits.subscriptions.values()):
        yield SubscriptionOpened(view.key(), scope.key, gateway.id, "INTERMEDIATE", WATCHING, "", interrupting=True)


def _reset(gateway: Node, consumed: tuple[FlowId, ...], scope: Element, view: View) -> Effects:
    left = tuple(flow for flow in gateway.incoming if flow in scope.tokens and flow not in consumed)
    if awaits_tokens(gateway, scope, sum(gateway.bits.get(flow, 0) for flow in (*consumed, *left))):
        return
    if not scope.tokens and not gateway.conditional:
        return  # the scope ends
    counts = _counts(gateway, scope)
    yield ComplexGatewayReset(scope.key, gateway.id, left)
    if gateway.conditional:
        yield from enter(gateway, scope, view, occurred=_texts(_attributes(counts, False), view))


def leave(gateway: Element, view: View) -> Effects:
    """Put a token on each outgoing flow that the phase chooses, or on the default flow if it chooses none.

    A modification may enter the gateway without tokens: it starts then.
    """
    node = view.node(gateway)
    given = gateway.occurred
    attributes = _attributes({}, True) if given is None else {name: from_json(text) for name, text in given.items()}
    taken = {*flows_with_true_conditions(gateway, gateway, view, attributes)}
    if attributes[WAITING_FOR_START]:
        flows = view.model(gateway.instance.definition_key).flows
        taken |= {flow for flow in node.outgoing if flow != node.default and flows[flow].condition is None}
    if not taken and node.default is not None:
        taken.add(node.default)
    if not taken and node.outgoing and attributes[WAITING_FOR_START]:
        raise no_flow()
    yield ElementCompleted(gateway.key, tuple(flow for flow in node.outgoing if flow in taken))


def _counts(gateway: Node, scope: Element) -> dict[FlowId, int]:
    return {flow: scope.tokens.get(flow, 0) for flow in gateway.incoming}


def _attributes(counts: Mapping[FlowId, int], waiting_for_start: bool) -> dict[str, Any]:
    """The instance attributes of a gateway, which its conditions see like variables (table 10.67).

    `counts`: numbers of tokens on its incoming flows.
    """
    return {
        "activationCount": sum(counts.values()),
        "activationCounts": dict(counts),
        WAITING_FOR_START: waiting_for_start,
    }


def _texts(attributes: Mapping[str, Any], view: View) -> dict[str, str]:
    return {name: view.expressions.json_of(value) for name, value in attributes.items()}
