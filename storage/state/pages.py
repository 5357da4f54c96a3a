"""Loads paged loops into the state: inner instances, items, and results.

A loop over many items is never loaded whole. Each of its inner instances is a *part*: a command that names a row of the
part loads it with all rows below. A loop that ends early, or that begins its next inner instances, gets a page of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import takewhile
from pathlib import Path
from typing import Any

from vivero.core.shared.deferred_work import next_work
from vivero.core.shared.whole_trees import lacks_children, paged_bodies
from vivero.core.state import batches
from vivero.core.state.instance_tree import (
    ACTIVATING,
    LOOP_TEXT_WEIGHT,
    TERMINATING,
    Element,
    InstanceTree,
    LoopPages,
    Variable,
)
from vivero.core.state.lazy_variables import LazyVariables
from vivero.core.state.loop_rows import texts_of
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.core.state.subtrees import descendants
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import load
from vivero.storage.state.scope_variables import places_of, variables_of

_sql = load(Path(__file__).with_name("load.sql"))

CHILDREN_A_PAGE = 100
"""Inner instances on a page. Quanta end them; commands wait while a page is loaded."""
ROWS_A_PAGE = 1_000
"""Live rows on a page, roughly: an inner instance that calls others may have thousands."""
LARGE_PART = 100
"""A part with this many rows or more is a page by itself. Its further rows are not counted."""
CHILDREN_AHEAD = 1000
"""Keys of inner instances that one statement reads."""
BODIES = 8
"""Loops of one batch that get a page. Further loops ask again in a later batch."""

Rows = list[tuple[Any, ...]]


def work_of(state: State, roots: Iterable[int]) -> list[int]:
    """Elements that the deferred work of trees names and the state lacks: not loaded, or ended. The latest first."""
    keys: dict[int, None] = {}
    for tree in _trees(state, roots):
        tree.loaded_work = None
        keys.update((item[0], None) for item in reversed(next_work(tree)) if item[0] not in state.elements)
        if tree.in_parts:
            tree.loaded_work = len(next_work(tree))
    return list(keys)


def bound_work(state: State, roots: Iterable[int], left_out: Set[int]) -> None:
    """Leave for later the deferred items that come before one whose element is not loaded."""
    for tree in _trees(state, roots):
        loaded = takewhile(lambda item: item[0] not in left_out, reversed(next_work(tree)))
        if left_out and tree.in_parts:
            tree.loaded_work = len(list(loaded))


def _trees(state: State, roots: Iterable[int]) -> list[InstanceTree]:
    return [state.trees[root] for root in roots if root in state.trees]


async def children(reader: Connection, state: State, roots: Iterable[int]) -> dict[int, int]:
    """The next inner instances of loops that end early: part → root. Some of them may have ended."""
    bodies = [body for body in _continued(state, roots) if _lacks_children(body)][:BODIES]
    loops = [(body, body.pages) for body in bodies if body.pages is not None]
    await _read_ahead(reader, [(body, loop) for body, loop in loops if not loop.ahead])
    gone = state.ended | batches.ended_in_batch(state) if loops else set()
    return {key: body.tree.key for body, loop in loops for key in _next_page(state, loop, gone)}


async def _read_ahead(reader: Connection, loops: Sequence[tuple[Element, LoopPages]]) -> None:
    """Reads the keys of several pages. The load of a page finds out which of them have ended since."""
    if loops:
        calls = [(_sql["children_ahead"], (body.key, at.read_to, CHILDREN_AHEAD, LARGE_PART)) for body, at in loops]
        for (_, loop), result in zip(loops, await reader.pipeline(calls), strict=True):
            loop.ahead = [(key, rows) for key, rows in result.rows]


def _next_page(state: State, loop: LoopPages, gone: Set[int]) -> list[int]:
    """The keys of the next page, without inner instances that are in memory (`state.parts`) or have ended (`gone`).

    It advances `read_to` past the keys that it took or skipped.
    """
    page: list[int] = []
    rows, passed = 0, len(loop.ahead)
    for place, (key, rows_of_part) in enumerate(loop.ahead):
        if key in state.parts or key in gone:
            continue
        rows += ROWS_A_PAGE if rows_of_part >= LARGE_PART else rows_of_part
        if page and (len(page) == CHILDREN_A_PAGE or rows > ROWS_A_PAGE):
            passed = place
            break
        page.append(key)
    if passed:
        loop.read_to, loop.ahead = loop.ahead[passed - 1][0], loop.ahead[passed:]
    return page


async def absent(reader: Connection, state: State, instances: Iterable[int]) -> dict[int, int]:
    """The live inner instances below instances that are not in memory: part → root. Some of them may have ended."""
    known = [state.elements[key] for key in instances if key in state.elements]
    bodies = {body.key: body for one in known for body in paged_bodies(one, state) if lacks_children(body)}
    if not bodies:
        return {}
    gone = state.ended | batches.ended_in_batch(state)
    found = (await reader.execute(_sql["children_of"], (sorted(bodies),))).rows
    return {key: bodies[body].tree.key for key, body in found if key not in state.parts and key not in gone}


def make_lazy(state: State, keys: Iterable[int]) -> None:
    """Gives elements lazy variables: they were loaded only to be ended."""
    for key in keys:
        element = state.elements[key]
        element.variables = LazyVariables(element.tree.key if element.part is None else element.part.key)


def lazy_parts(row: Row) -> Iterator[int]:
    """Those of the row's part and of the trunk of its tree whose variables are lazy."""
    element = row.place()
    if element is not None:
        for one in (element, element.tree.root):
            if isinstance(one.variables, LazyVariables):
                yield one.variables.part


async def variables(reader: Connection, state: State, parts: Iterable[int]) -> None:
    """Reads the lazy variables of parts that are in memory. The part of a trunk has the key of its root."""
    lazy = {element.key: element for part in parts for element in _lazy(state, part)}
    if not lazy:
        return
    rows = (await reader.execute(*variables_of(places_of(lazy.values())))).rows
    for element in lazy.values():
        element.variables = {}
    for key, scope_key, name, value in rows:
        scope = lazy[scope_key]
        scope.variables[name] = variable = Variable(key, scope, name, value)
        scope.tree.weight += variable.weight()
        state.weight += variable.weight()


def _lazy(state: State, part: int) -> Iterator[Element]:
    for element in descendants(state.elements[part]) if part in state.elements else ():
        if isinstance(element.variables, LazyVariables) and element.variables.part == part:
            yield element


def _continued(state: State, roots: Iterable[int]) -> list[Element]:
    """The bodies of paged loops that the deferred work of these trees settles next."""
    found: dict[int, Element] = {}
    for root in roots:
        tree = state.trees.get(root)
        for key, stage, _ in () if tree is None else next_work(tree):
            if stage == "settle" and key in state.paged:
                found[key] = state.paged[key]
    return list(found.values())


def _is_emptied(body: Element) -> bool:
    return body.then is not None or body.state is TERMINATING


def _lacks_children(body: Element) -> bool:
    if not _is_emptied(body) or len(body.children) >= body.live:
        return False
    untold = rows = 0
    for child in body.children.values():
        if child.state is not TERMINATING:
            untold += 1
            rows += 0 if child.part is None else child.part.rows
            if untold >= CHILDREN_A_PAGE // 2 or rows >= ROWS_A_PAGE // 2:
                return False
    return True


async def items(reader: Connection, state: State, roots: Iterable[int], named: Iterable[tuple[int, int]]) -> None:
    """Loads the items that loops need next, and those that are `named` by (body, index)."""
    missing = set(named)
    for key in [item[0] for root in roots if root in state.trees for item in next_work(state.trees[root])]:
        missing.update(_untaken(state, key))
    missing = {(body, index) for body, index in missing if _lacks_item(state, body, index)}
    bodies = [body for body in _continued(state, roots) if _next_item(body) is not None][:BODIES]
    asked = sorted(missing.union((body.key, _next_item(body) or 0) for body in bodies))
    if asked:
        columns = [body for body, _ in asked], [index for _, index in asked]
        _add_items(state, (await reader.execute(_sql["paged_loop_items"], columns)).rows, missing)


def untaken(state: State, keys: Iterable[int]) -> set[tuple[int, int]]:
    """The items, by (body, index), of loaded inner instances that have not yet made variables of them."""
    return {pair for key in keys for pair in _untaken(state, key)}


def _untaken(state: State, key: int) -> Iterable[tuple[int, int]]:
    inner = state.elements.get(key)
    if inner is not None and inner.index >= 0 and inner.state is ACTIVATING and inner.scope is not None:
        yield inner.scope.key, inner.index


def _lacks_item(state: State, body_key: int, index: int) -> bool:
    body = state.paged.get(body_key)
    return body is not None and body.pages is not None and body.pages.item(index) is None


def _next_item(body: Element) -> int | None:
    """The index of the first item that a loop needs and lacks; None if it has the next one, or needs none."""
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


def _add_items(state: State, rows: Rows, named: Set[tuple[int, int]]) -> None:
    """Adds the items that are named, or whose inner instances have not begun. A row holds many items."""
    for body_key, first, items in rows:
        body = state.paged[body_key]
        pages, following = body.pages, 0 if body.loop is None else body.loop.next
        for index, item in enumerate(texts_of(items), first):
            needed = index >= following or (body_key, index) in named
            if needed and pages is not None and index not in pages.items:
                pages.items[index] = item
                _add_weight(state, body, item)


async def results(reader: Connection, state: State, bodies: Iterable[int]) -> None:
    """Loads all results of loops that are done, except those in memory, which are newer."""
    known = sorted(body for body in bodies if body in state.paged)
    if not known:
        return
    for body_key, index, result in (await reader.execute(_sql["loop_results"], (known,))).rows:
        body = state.paged[body_key]
        if body.pages is not None and index not in body.pages.results:
            body.pages.results[index] = result
            body.pages.results_saved.append(index)
            _add_weight(state, body, result)


def _add_weight(state: State, body: Element, text: str) -> None:
    weight = LOOP_TEXT_WEIGHT + len(text)
    body.tree.weight += weight
    state.weight += weight
