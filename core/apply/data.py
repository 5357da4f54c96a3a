"""Variables, and items and results of loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from vivero.core.records.instances import ItemCollected, LoopResultSet, LoopStarted, VariableSet
from vivero.core.state.instance_tree import (
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
from vivero.core.state.loop_rows import rows_of_texts, rows_of_values
from vivero.core.state.state import State


def variable_set(state: State, event: VariableSet) -> Variable:
    return _set(state, event.key, state.elements[event.scope], event.name, event.value)


def loop_started(state: State, event: LoopStarted) -> Element:
    body = state.elements[event.body]
    state.edit(body)
    if event.paged:
        return _paged_loop_started(state, body, event)
    body.loop = LoopState(len(event.items))
    state.add_size(body, 0, len(event.items))
    body.items = [LoopItem(index, body, item) for index, item in enumerate(event.items)]
    for item in body.items:
        state.add(item)
        state.written += len(item.item)
    return body


def _paged_loop_started(state: State, body: Element, event: LoopStarted) -> Element:
    items: Sequence[Any] = event.items
    if event.variable is None:
        rows = rows_of_texts(event.items)
    else:
        scope, name = event.variable
        items = state.elements[scope].variables[name].decode()
        rows = rows_of_values(items)
    body.loop = LoopState(len(items), paged=True)
    body.pages = LoopPages(body.key, rows=rows, rows_saved=False)
    state.link(state.paged, body.key, body)
    state.add(LoopItems(body.key, body, rows))
    state.written += sum(map(len, rows))
    state.add_weight(body.tree, body.pages.weight())
    return body


def item_collected(state: State, event: ItemCollected) -> LoopItem | LoopResult:
    body = state.elements[event.body]
    assert body.loop is not None, "an activated loop has a state"
    state.edit(body)
    body.loop = msgspec.structs.replace(body.loop, collected=body.loop.collected + len(event.value))
    state.written += len(event.value)
    if body.pages is not None:
        result = LoopResult(event.index, body, event.value)
        state.add(result)
        state.link(body.pages.results, event.index, event.value)
        state.add_weight(body.tree, LOOP_TEXT_WEIGHT + len(event.value))
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
    return _set(state, event.key, state.elements[event.scope], event.name, f"[{','.join(results)}]")


def _set(state: State, key: int, scope: Element, name: str, value: str) -> Variable:
    variables = scope.variables
    variable, grown = variables.get(name), len(value)
    state.written += grown
    if state.watching and scope.instance.key in state.watching:
        state.variable_changes.append((scope, name, variable is None))
    if variable is None:
        variable = Variable(key, scope, name, value)
        state.add(variable)
        variables[name] = variable
        grown += VARIABLE_WEIGHT
    else:
        grown -= len(variable.value)
        state.edit(variable)
        variable.value = value
        variable.decoded, variable.canonical = MISSING, None
    state.add_weight(scope.tree, grown)
    return variable
