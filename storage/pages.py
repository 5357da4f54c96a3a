"""Paged loops, from the tables into the state: what deferred work goes on with, items, and results (CORE D8).

A loop over many items is never loaded whole. Each of its inner instances is a *part*, loaded with all that is below it
when something in it is named; a loop that is ended early, or that makes its next inner instances, gets a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import islice
from typing import Any

from engine.core.loop_rows import texts_of
from engine.core.state import State
from engine.core.tree import ACTIVATING, LOOP_TEXT_WEIGHT, TERMINATING, Element
from storage.driver import Call, Connection
from storage.sql_files import SQL_DIRECTORY, load

_sql = load(SQL_DIRECTORY / "load.sql")

CHILDREN_A_PAGE = 100
"""Inner instances that are loaded so that slices may end them: commands wait while a page is loaded."""
BODIES = 8
"""So many loops of one batch get their pages; others ask again when it is their turn."""

Rows = list[tuple[Any, ...]]


def work_of(state: State, roots: Iterable[int]) -> set[int]:
    """Elements that the deferred work of trees names and the state lacks: not loaded, or ended."""
    trees = (state.trees[root] for root in roots if root in state.trees)
    return {item[0] for root in trees for item in root.work if item[0] not in state.elements}


async def children(reader: Connection, state: State, roots: Iterable[int]) -> dict[int, int]:
    """The next inner instances of loops that end early and whose work goes on: part → root."""
    bodies = [body for body in _going_on(state, roots) if _lacks_children(body)][:BODIES]
    if not bodies:
        return {}
    ended = state.ended | state.ended_in_batch()
    results = await reader.pipeline([_children_page(body, ended) for body in bodies])
    for body, result in zip(bodies, results, strict=True):
        if body.pages is not None and result.rows:
            body.pages.read_to = result.rows[-1][0]
    return {row[0]: body.root.key for body, result in zip(bodies, results, strict=True) for row in result.rows}


def _children_page(body: Element, ended: Iterable[int]) -> Call:
    """From where all before are in memory, without those behind that are, too, and without those that have ended."""
    after = 0 if body.pages is None else body.pages.read_to
    but = [key for key in (*body.children, *ended) if key > after]
    return _sql["children_page"], (body.key, after, but, CHILDREN_A_PAGE)


def _going_on(state: State, roots: Iterable[int]) -> list[Element]:
    """Bodies of paged loops that settle when the work of these trees goes on."""
    found: dict[int, Element] = {}
    for root in roots:
        tree = state.trees.get(root)
        for key, stage, _ in () if tree is None else tree.work:
            if stage == "settle" and key in state.paged:
                found[key] = state.paged[key]
    return list(found.values())


def _is_emptied(body: Element) -> bool:
    return body.then is not None or body.state is TERMINATING


def _lacks_children(body: Element) -> bool:
    if not _is_emptied(body) or len(body.children) >= body.live:
        return False
    untold = (child for child in body.children.values() if child.state is not TERMINATING)
    return sum(1 for _ in islice(untold, CHILDREN_A_PAGE // 2)) < CHILDREN_A_PAGE // 2


async def items(reader: Connection, state: State, roots: Iterable[int], named: Iterable[tuple[int, int]]) -> None:
    """Items that loops go on with, and those that are `named` by (body, index)."""
    missing = set(named)
    for key in [item[0] for root in roots if root in state.trees for item in state.trees[root].work]:
        missing.update(_untaken(state, key))
    missing = {(body, index) for body, index in missing if _lacks_item(state, body, index)}
    bodies = [body for body in _going_on(state, roots) if _next_item(body) is not None][:BODIES]
    asked = sorted(missing.union((body.key, _next_item(body) or 0) for body in bodies))
    if asked:
        columns = [body for body, _ in asked], [index for _, index in asked]
        _take_items(state, (await reader.execute(_sql["paged_loop_items"], columns)).rows, missing)


def untaken(state: State, keys: Iterable[int]) -> set[tuple[int, int]]:
    """The items of inner instances, just loaded, that have not yet made their variables of them."""
    return {pair for key in keys for pair in _untaken(state, key)}


def _untaken(state: State, key: int) -> Iterable[tuple[int, int]]:
    inner = state.elements.get(key)
    if inner is not None and inner.index >= 0 and inner.state is ACTIVATING and inner.scope is not None:
        yield inner.scope.key, inner.index


def _lacks_item(state: State, body_key: int, index: int) -> bool:
    body = state.paged.get(body_key)
    return body is not None and body.pages is not None and body.pages.item(index) is None


def _next_item(body: Element) -> int | None:
    """From which index on a loop that makes inner instances needs items; None: it has them, or needs none."""
    loop, pages = body.loop, body.pages
    if (
        loop is None
        or pages is None
        or _is_emptied(body)
        or loop.next >= loop.size
        or pages.item(loop.next) is not None
    ):
        return None
    return loop.next


def _take_items(state: State, rows: Rows, named: Set[tuple[int, int]]) -> None:
    """Of rows of many items, those that are named or that inner instances are still to be made for."""
    for body_key, first, items in rows:
        body = state.paged[body_key]
        pages, following = body.pages, 0 if body.loop is None else body.loop.next
        for index, item in enumerate(texts_of(items), first):
            needed = index >= following or (body_key, index) in named
            if needed and pages is not None and index not in pages.items:
                pages.items[index] = item
                _weigh(state, body, item)


async def results(reader: Connection, state: State, bodies: Iterable[int]) -> None:
    """All results of loops that are done. What is in memory is newer."""
    known = sorted(body for body in bodies if body in state.paged)
    if not known:
        return
    for body_key, index, result in (await reader.execute(_sql["loop_results"], (known,))).rows:
        body = state.paged[body_key]
        if body.pages is not None and index not in body.pages.results:
            body.pages.results[index] = result
            body.pages.results_saved.append(index)
            _weigh(state, body, result)


def _weigh(state: State, body: Element, text: str) -> None:
    weight = LOOP_TEXT_WEIGHT + len(text)
    body.root.weight += weight
    state.weight += weight
