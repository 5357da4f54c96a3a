"""Variables, and the items and results of loops."""

from __future__ import annotations

import msgspec

from engine.core.records.instances import ItemCollected, LoopResultSet, LoopStarted, VariableSet
from engine.core.state import State
from engine.core.tree import (
    LOOP_TEXT_WEIGHT,
    MISSING,
    VARIABLE_WEIGHT,
    Element,
    LoopItem,
    LoopItems,
    LoopPages,
    LoopResult,
    LoopState,
    Variable,
)


def variable_set(state: State, event: VariableSet) -> Variable:
    return _set(state, event.key, event.scope, event.name, event.value)


def loop_started(state: State, event: LoopStarted) -> Element:
    body = state.elements[event.body]
    state.edit(body)
    items = event.items if event.variable is None else _items_of(state, *event.variable)
    characters = sum(map(len, items))
    body.loop = LoopState(len(items), paged=event.paged)
    state.written += characters
    if event.paged:
        body.pages = LoopPages(body.key, dict(enumerate(items)), items_saved=False)
        state.link(state.paged, body.key, body)
        state.add(LoopItems(body.key, body, items))
        state.weigh(body.root, LOOP_TEXT_WEIGHT * len(items) + characters)
        return body
    body.items = [LoopItem(index, body, item) for index, item in enumerate(items)]
    for item in body.items:
        state.add(item)
    return body


def _items_of(state: State, scope: int, name: str) -> tuple[str, ...]:
    """Of a list that has no text, list or context in it: what is between the commas."""
    return tuple(state.elements[scope].variables[name].value[1:-1].split(","))


def item_collected(state: State, event: ItemCollected) -> LoopItem | LoopResult:
    body = state.elements[event.body]
    assert body.loop is not None, "a loop that collects has begun"
    state.edit(body)
    body.loop = msgspec.structs.replace(body.loop, collected=body.loop.collected + len(event.value))
    state.written += len(event.value)
    if body.pages is not None:
        result = LoopResult(event.index, body, event.value)
        state.add(result)
        state.link(body.pages.results, event.index, event.value)
        state.weigh(body.root, LOOP_TEXT_WEIGHT + len(event.value))
        return result
    item = body.items[event.index]
    state.edit(item)
    item.result = event.value
    return item


def loop_result_set(state: State, event: LoopResultSet) -> Variable:
    body = state.elements[event.body]
    if body.pages is not None and body.loop is not None:
        known = body.pages.results
        results = [known.get(index, "null") for index in range(body.loop.size)]
    else:
        results = ["null" if item.result is None else item.result for item in body.items]
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
    state.written += len(value)
    state.weigh(scope.root, grown)
    return variable
