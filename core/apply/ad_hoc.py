"""The progress of ad-hoc sub-processes."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.core.records.ad_hoc import (
    AdHocActivationsAdded,
    AdHocActivationsTaken,
    AdHocFulfilled,
    AdHocOutputAdded,
    AdHocSecretsLocated,
    AdHocToolApproved,
)
from vivero.core.state.ad_hoc import AdHocState
from vivero.core.state.instance_tree import MISSING, Element, Variable
from vivero.core.state.state import State


def ad_hoc_activations_added(state: State, event: AdHocActivationsAdded) -> Element:
    scope = state.elements[event.scope]
    pending = () if scope.ad_hoc is None else scope.ad_hoc.pending
    state.written += sum(len(text) for _, values in event.activations for text in values.values())
    return _set(state, scope, pending=pending + event.activations)


def ad_hoc_activations_taken(state: State, event: AdHocActivationsTaken) -> Element:
    scope = state.elements[event.scope]
    pending = () if scope.ad_hoc is None else scope.ad_hoc.pending[event.count :]
    return _set(state, scope, pending=pending, begun=True)


def ad_hoc_fulfilled(state: State, event: AdHocFulfilled) -> Element:
    return _set(state, state.elements[event.scope], pending=(), fulfilled=True)


def ad_hoc_secrets_located(state: State, event: AdHocSecretsLocated) -> Element:
    return _set(state, state.elements[event.scope], secret_places=event.header)


def ad_hoc_tool_approved(state: State, event: AdHocToolApproved) -> Element:
    scope = state.elements[event.scope]
    known = () if scope.ad_hoc is None else scope.ad_hoc.approved
    return _set(state, scope, approved=known if event.tool in known else (*known, event.tool))


def ad_hoc_output_added(state: State, event: AdHocOutputAdded) -> Variable:
    scope = state.elements[event.scope]
    variable = scope.variables[event.name]
    state.edit(variable)
    if state.watching and scope.instance.key in state.watching:
        state.variable_changes.append((scope, event.name, False))
    before = variable.value
    variable.value = f"{before[:-1]}{',' if before != '[]' else ''}{event.value}]"
    variable.decoded, variable.canonical = MISSING, None
    state.written += len(event.value)
    state.add_weight(scope.tree, len(variable.value) - len(before))
    return variable


def _set(state: State, scope: Element, **changes: Any) -> Element:
    state.edit(scope)
    scope.ad_hoc = msgspec.structs.replace(scope.ad_hoc or AdHocState(), **changes)
    return scope
