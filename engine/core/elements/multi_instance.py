"""Multi-instance activity: its body. BPMN 2.0.2 §10.3.9, §13.3.7: the collection is evaluated once, when the body is
activated, and one inner instance is made for each item, one after the other or all at once; the body completes when all
have ended, or when the completion condition holds.

The boundary events are the body's; mappings, jobs and listeners are the inner instances'. Results stand in the order of
the items, null where there is none. How many items there may be is limited, and how large they and the results are.
Not here: loop cardinality, `behavior`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vivero.engine.bpmn.model import Loop, Node
from vivero.engine.core.elements import defaults
from vivero.engine.core.events.table import EVENTS
from vivero.engine.core.records.effects import Effects, Fail, IncidentType, LoadMore
from vivero.engine.core.records.instances import (
    ElementCompleting,
    ItemCollected,
    LoopResultSet,
    LoopStarted,
    ScopeInterrupted,
)
from vivero.engine.core.rules import MAX_LOOP_CHARACTERS, MAX_LOOP_ITEMS
from vivero.engine.core.shared import room
from vivero.engine.core.shared.flows import enter_inner
from vivero.engine.core.shared.variables import owner_of
from vivero.engine.core.state.instance_tree import Element, LoopState
from vivero.engine.core.view import View
from vivero.engine.feel import Expression, from_json, is_compact, scalars_to_json

CHARACTERS_A_TEXT = 32
"""What making an item's text costs however short it is."""
CHUNK = 100
TOO_LARGE = f"as JSON they have at most {MAX_LOOP_CHARACTERS} characters together"
PAGED_CHUNK = 1
"""Of a paged loop each inner instance begins before the next is made: none is left half begun at the end of a slice."""


def activate(body: Element, at: View) -> Effects:
    items = at.typed(_loop(body, at).collection, body, list, IncidentType.EXTRACT_VALUE_ERROR)
    if len(items) > MAX_LOOP_ITEMS:
        raise _too_much("items", f"a loop has at most {MAX_LOOP_ITEMS}, and not {len(items)}")
    paged = bool(items) and room.rows_together(body) + len(items) > at.trees.paged_from and not _stays_whole(body, at)
    room.check(body, at, IncidentType.EXTRACT_VALUE_ERROR, len(items), 0 if paged else len(items))
    variable = _variable_of(body, items) if paged else None
    yield LoopStarted(body.key, () if variable else _texts_of(items, at), paged, variable)


def _stays_whole(body: Element, at: View) -> bool:
    """Whether an event inside must find all its subscriptions in memory."""
    nodes = at.model(body.instance.definition_key).nodes
    return any(
        node.event is not None and EVENTS[type(node.event)].keeps_whole and _is_inside(node, body.element, nodes)
        for node in nodes.values()
    )


def _is_inside(node: Node, id: str, nodes: Mapping[str, Node]) -> bool:
    scope = node.scope
    while scope is not None and scope != id:
        scope = nodes[scope].scope
    return scope is not None


def _variable_of(body: Element, items: list[Any]) -> tuple[int, str] | None:
    """The variable whose value the items are, where its text is theirs."""
    scope: Element | None = body
    while scope is not None:
        for variable in scope.variables.values():
            if variable.decoded is items and is_compact(variable.value, items):
                _check_size(variable.value, items)
                return scope.key, variable.name
        scope = scope.outer()
    return None


def _texts_of(items: list[Any], at: View) -> tuple[str, ...]:
    """The items as JSON text: of plain ones all at once."""
    text = scalars_to_json(items)
    if text is None:
        texts = tuple(_each_text_of(items, at))
        at.charge(sum(map(len, texts)) + CHARACTERS_A_TEXT * len(texts))
        return texts
    _check_size(text, items)
    return tuple(text[1:-1].split(",")) if items else ()


def _check_size(text: str, items: list[Any]) -> None:
    """`text`: of all items, with what is around and between them."""
    if len(text) - len(items) - len("]") > MAX_LOOP_CHARACTERS:
        raise _too_much("items", TOO_LARGE)


def _each_text_of(items: list[Any], at: View) -> Iterator[str]:
    """Few values can stand for a huge text: none is made once there is too much of it."""
    characters = 0
    for item in items:
        text = at.uncharged_json_of(item)
        characters += len(text)
        if characters > MAX_LOOP_CHARACTERS:
            raise _too_much("items", TOO_LARGE)
        yield text


def _too_much(what: str, why: str) -> Fail:
    return Fail(IncidentType.EXTRACT_VALUE_ERROR, f"Too many or too large {what} of a multi-instance activity: {why}.")


def settle(body: Element, at: View) -> Effects:
    """After activation, after each inner instance that ended, after each slice."""
    state = _state(body)
    width = 1 if _loop(body, at).sequential else state.size
    chunk = CHUNK if body.pages is None else PAGED_CHUNK
    until = min(state.size, state.next + chunk, state.next + width - body.live)
    for index in range(state.next, until):
        if body.pages is not None and body.pages.item(index) is None:
            yield LoadMore(body.key)
            return
        yield from enter_inner(at.node(body), body, index, at)
    if not body.live and state.next == state.size:
        yield ElementCompleting(body.key)


def collect(body: Element, inner: Element, at: View) -> Effects:
    """In the completion of an inner instance: what fails here is an incident of that one."""
    loop, state, text = _loop(body, at), _state(body), None
    if loop.output is not None:
        text = at.json_of(at.evaluate(loop.output, inner))
        if state.collected + len(text) > MAX_LOOP_CHARACTERS:
            raise _too_much("results", TOO_LARGE)
        yield ItemCollected(body.key, inner.index, text)
    if loop.until is not None and body.then is None:
        seen = _counters(loop, body) | _results(loop, loop.until, body, inner.index, text, at)
        if at.typed(loop.until, inner, bool, IncidentType.EXTRACT_VALUE_ERROR, seen):
            yield ScopeInterrupted(body.key, ("complete",))


def _counters(loop: Loop, body: Element) -> dict[str, Any]:
    """§10.3.9, table 10.31: instances are counted when they are made, which in a sequence is one after the other."""
    state = _state(body)
    return {
        "numberOfInstances": state.next if loop.sequential else state.size,
        "numberOfActiveInstances": body.live - 1,
        "numberOfCompletedInstances": state.completed + 1,
        "numberOfTerminatedInstances": state.terminated,
    }


def _results(loop: Loop, until: Expression, body: Element, index: int, text: str | None, at: View) -> dict[str, Any]:
    """The list of results as far as it is, with `text` at `index`, for a completion condition that looks at it."""
    if loop.output_name is None or loop.output_name not in until.variables:
        return {}
    results = at.loop_results(body)
    results[index] = None if text is None else from_json(text)
    return {loop.output_name: results}


def leave(body: Element, at: View) -> Effects:
    loop = _loop(body, at)
    if loop.output is not None and loop.output_name is not None:
        at.need_results(body)
        scope = owner_of(loop.output_name, body.outer() or body)
        known = scope.variables.get(loop.output_name)
        key = known.key if known is not None else at.key()
        yield LoopResultSet(key, body.key, scope.key, loop.output_name)
    yield from defaults.leave(body, at)


def _loop(body: Element, at: View) -> Loop:
    loop = at.node(body).loop
    assert loop is not None, f"the body of a loop has one: {body.element}"
    return loop


def _state(body: Element) -> LoopState:
    assert body.loop is not None, f"an activated body has a loop: {body.element}"
    return body.loop
