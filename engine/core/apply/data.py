"""Variables, and the items and results of loops."""

from __future__ import annotations

from engine.core import records
from engine.core.state import MISSING, VARIABLE_WEIGHT, Element, LoopItem, LoopState, State, Variable


def variable_set(state: State, event: records.VariableSet) -> Variable:
    return _set(state, event.key, event.scope, event.name, event.value)


def loop_started(state: State, event: records.LoopStarted) -> Element:
    body = state.elements[event.body]
    state.edit(body)
    body.loop = LoopState(len(event.items))
    body.items = [LoopItem(index, body, item) for index, item in enumerate(event.items)]
    for item in body.items:
        state.add(item)
    return body


def item_collected(state: State, event: records.ItemCollected) -> LoopItem:
    item = state.elements[event.body].items[event.index]
    state.edit(item)
    item.result = event.value
    return item


def loop_result_set(state: State, event: records.LoopResultSet) -> Variable:
    results = ("null" if item.result is None else item.result for item in state.elements[event.body].items)
    return _set(state, event.key, event.scope, event.name, f"[{','.join(results)}]")


def _set(state: State, key: int, scope_key: int, name: str, value: str) -> Variable:
    scope = state.elements[scope_key]
    variable = scope.variables.get(name)
    if variable is None:
        variable = Variable(key, scope, name, value)
        state.link(scope.variables, name, variable)
        state.add(variable)
        grown = VARIABLE_WEIGHT + len(value)
    else:
        grown = len(value) - len(variable.value)
        state.edit(variable)
        variable.value = value
        variable.decoded = MISSING
    state.weigh(scope.root, grown)
    return variable
