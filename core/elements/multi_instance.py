"""Multi-instance activity: its body. BPMN 2.0.2 §10.3.9, §13.3.7: the body evaluates the collection once, when it is
activated, and creates one inner instance for each item, sequentially or in parallel. It completes when all inner
instances have ended or the completion condition is true.

The body has the boundary events; the inner instances have the mappings, jobs and listeners. Results have the order of
the items, with null where there is none. Number and size of items and the size of results are limited.
A model can give the number of inner instances instead of a collection. The body of a standard loop is one of these
bodies, too, without items: `standard_loop`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vivero.core.bpmn.model import Loop, Node, parts_of
from vivero.core.elements import defaults
from vivero.core.events import inner_events
from vivero.core.events.table import EVENT_BEHAVIOURS
from vivero.core.expressions.evaluation import need_results
from vivero.core.feel import Expression, from_json, is_compact, scalars_to_json
from vivero.core.records.effects import Effects, Fail, IncidentType, LoadMore
from vivero.core.records.instances import (
    ElementCompleting,
    ItemCollected,
    LoopResultSet,
    LoopStarted,
    ScopeInterrupted,
)
from vivero.core.rules import MAX_LOOP_CHARACTERS, MAX_LOOP_ITEMS
from vivero.core.shared import row_limits, standard_loop
from vivero.core.shared.flows import enter_inner
from vivero.core.shared.jobs import int32_of
from vivero.core.shared.variables import owner_of
from vivero.core.state.instance_tree import Element, LoopState
from vivero.core.view import View

MIN_CHARACTERS_PER_ITEM = 32
"""The minimum charge for encoding one item."""
CHUNK = 100
TOO_LARGE = f"at most {MAX_LOOP_CHARACTERS} characters of JSON are allowed in total"
PAGED_CHUNK = 1
"""A paged loop activates each inner instance before it creates the next. So a quantum never ends between the two."""


def activate(body: Element, view: View) -> Effects:
    loop = _loop(body, view)
    if loop.repetition is not None:
        yield from standard_loop.begin(loop.repetition, body, view)
        return
    items = _items(loop, body, view)
    rows = row_limits.rows_of_part(body) + len(items)
    paged = bool(items) and rows > view.tree_rules.paged_from and not prevents_paging(body, view)
    row_limits.check(body, view, IncidentType.EXTRACT_VALUE_ERROR, len(items), 0 if paged else len(items))
    variable = _variable_of(body, items) if paged else None
    yield LoopStarted(body.key, () if variable else _texts_of(items, view), paged, variable)


def _items(loop: Loop, body: Element, view: View) -> list[Any]:
    """The items of the collection; for a cardinality, so many times null."""
    if loop.collection is not None:
        items: list[Any] = view.expressions.typed(loop.collection, body, list, IncidentType.EXTRACT_VALUE_ERROR)
        _check_number(len(items))
        return items
    assert loop.cardinality is not None, f"the parser rejects loops without a number: {body.element}"
    number = int32_of(loop.cardinality, body, view)
    if number < 0:
        text = loop.cardinality.text.removeprefix("=").strip()
        raise Fail(
            IncidentType.EXTRACT_VALUE_ERROR,
            f"Expected the loop cardinality '{text}' to be 0 or more, but was '{number}'.",
        )
    _check_number(number)
    return [None] * number


def _check_number(number: int) -> None:
    if number > MAX_LOOP_ITEMS:
        raise _too_much("items", f"at most {MAX_LOOP_ITEMS} are allowed, not {number}")


def prevents_paging(body: Element, view: View) -> bool:
    """Whether an event inside the activity needs all its subscriptions in memory."""
    nodes = view.model(body.instance.definition_key).nodes
    return any(
        any(EVENT_BEHAVIOURS[type(event)].prevents_paging for event in parts_of(node.event))
        and _is_inside(node, body.element, nodes)
        for node in nodes.values()
    )


def _is_inside(node: Node, id: str, nodes: Mapping[str, Node]) -> bool:
    scope = node.scope
    while scope is not None and scope != id:
        scope = nodes[scope].scope
    return scope is not None


def _variable_of(body: Element, items: list[Any]) -> tuple[int, str] | None:
    """Scope and name of the variable that holds exactly these items, if there is one."""
    scope: Element | None = body
    while scope is not None:
        for variable in scope.variables.values():
            if variable.decoded is items and is_compact(variable.value, items):
                _check_size(variable.value, items)
                return scope.key, variable.name
        scope = scope.outer()
    return None


def _texts_of(items: list[Any], view: View) -> tuple[str, ...]:
    """Each item as JSON text. Scalars are encoded in one call."""
    text = scalars_to_json(items)
    if text is None:
        texts = tuple(_each_text_of(items, view))
        view.budget.charge(sum(map(len, texts)) + MIN_CHARACTERS_PER_ITEM * len(texts))
        return texts
    _check_size(text, items)
    return tuple(text[1:-1].split(",")) if items else ()


def _check_size(text: str, items: list[Any]) -> None:
    """`text`: the JSON array of all items. Brackets and commas do not count."""
    if len(text) - len(items) - len("]") > MAX_LOOP_CHARACTERS:
        raise _too_much("items", TOO_LARGE)


def _each_text_of(items: list[Any], view: View) -> Iterator[str]:
    """Encode item by item and stop at the limit: a few shared values can expand to a huge text."""
    characters = 0
    for item in items:
        text = view.expressions.uncharged_json_of(item)
        characters += len(text)
        if characters > MAX_LOOP_CHARACTERS:
            raise _too_much("items", TOO_LARGE)
        yield text


def _too_much(what: str, why: str) -> Fail:
    return Fail(IncidentType.EXTRACT_VALUE_ERROR, f"Too many or too large {what} of a multi-instance activity: {why}.")


def settle(body: Element, view: View) -> Effects:
    """Called after activation, after the end of each inner instance, and after each quantum."""
    if body.interrupted:  # the transaction is cancelled, and compensation handlers run in it
        return ()
    if body.loop is None:  # a standard loop
        return defaults.settle(body, view)
    return _settle(body, body.loop, view)


def _settle(body: Element, state: LoopState, view: View) -> Effects:
    width = 1 if _loop(body, view).sequential else state.size
    chunk = CHUNK if body.pages is None else PAGED_CHUNK
    until = min(state.size, state.next + chunk, state.next + width - body.live)
    for index in range(state.next, until):
        if body.pages is not None and body.pages.item(index) is None:
            yield LoadMore(body.key)
            return
        yield from enter_inner(view.node(body), body, index, view)
    if not body.live and state.next == state.size:
        yield ElementCompleting(body.key)


def collect(body: Element, inner: Element, view: View) -> Effects:
    """Part of the completion of an inner instance: a failure becomes an incident of that instance."""
    if body.loop is None or body.interrupted:
        return
    loop, state, text = _loop(body, view), body.loop, None
    if loop.output is not None:
        text = view.expressions.json_of(view.expressions.evaluate(loop.output, inner))
        if state.collected + len(text) > MAX_LOOP_CHARACTERS:
            raise _too_much("results", TOO_LARGE)
        yield ItemCollected(body.key, inner.index, text)
    if loop.until is not None and body.then is None:
        seen = _counters(loop, body) | _results(loop, loop.until, body, inner.index, text, view)
        if view.expressions.typed(loop.until, inner, bool, IncidentType.EXTRACT_VALUE_ERROR, seen):
            yield ScopeInterrupted(body.key, ("complete",))


def proceed(body: Element, inner: Element, view: View) -> Effects:
    """An inner instance has completed: the next iteration of a standard loop begins, or the instance throws events. A
    failure as of `collect`."""
    loop = _loop(body, view)
    if body.interrupted:
        return ()
    if loop.repetition is not None:
        return standard_loop.proceed(loop.repetition, body, inner, view)
    if not loop.events or body.then is not None:
        return ()
    return inner_events.throw_all(loop.events, body, inner, _counters(loop, body), view)


def _counters(loop: Loop, body: Element) -> dict[str, Any]:
    """§10.3.9, table 10.31. An instance counts from its creation; a sequential loop creates one after the other."""
    state = _state(body)
    return {
        "numberOfInstances": state.next if loop.sequential else state.size,
        "numberOfActiveInstances": body.live - 1,
        "numberOfCompletedInstances": state.completed + 1,
        "numberOfTerminatedInstances": state.terminated,
    }


def _results(loop: Loop, until: Expression, body: Element, index: int, text: str | None, view: View) -> dict[str, Any]:
    """The results so far, with `text` at `index`, if the completion condition reads them."""
    if loop.output_name is None or loop.output_name not in until.variables:
        return {}
    results = view.expressions.loop_results(body)
    results[index] = None if text is None else from_json(text)
    return {loop.output_name: results}


def leave(body: Element, view: View) -> Effects:
    loop = _loop(body, view)
    if loop.output is not None and loop.output_name is not None:
        need_results(body)
        scope = owner_of(loop.output_name, body.outer() or body)
        known = scope.variables.get(loop.output_name)
        key = known.key if known is not None else view.key()
        yield LoopResultSet(key, body.key, scope.key, loop.output_name)
    yield from defaults.leave(body, view)


def _loop(body: Element, view: View) -> Loop:
    loop = view.node(body).loop
    assert loop is not None, f"only loop bodies get here: {body.element}"
    return loop


def _state(body: Element) -> LoopState:
    assert body.loop is not None, f"an activated body has a loop state: {body.element}"
    return body.loop
