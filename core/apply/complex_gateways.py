"""The phases of complex gateways, which their scopes keep."""

from __future__ import annotations

from vivero.core.apply.elements import new_marking
from vivero.core.records.complex_gateways import ComplexGatewayReset, ComplexGatewayStarted
from vivero.core.state.instance_tree import Element
from vivero.core.state.state import State


def started(state: State, event: ComplexGatewayStarted) -> Element:
    scope = state.elements[event.scope]
    state.edit(scope)
    scope.awaiting_reset = {**scope.awaiting_reset, event.target: event.flows}
    return scope


def reset(state: State, event: ComplexGatewayReset) -> Element:
    scope = state.elements[event.scope]
    state.edit(scope)
    scope.awaiting_reset = {name: flows for name, flows in scope.awaiting_reset.items() if name != event.target}
    scope.tokens = new_marking(scope.tokens, event.consumed, ())
    return scope
