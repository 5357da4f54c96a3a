"""Loads completed activities that can be compensated: as many as a compensation may undo next, the latest first.

What is registered inside of completed scopes comes along, within a limit: a quantum loads once, not for each scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Any

import msgspec

from vivero.core.state.compensation import past_scopes
from vivero.core.state.instance_tree import Element, Instance, Variable
from vivero.core.state.registrations import Registration
from vivero.core.state.state import State
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import load as load_sql
from vivero.storage.state.scope_variables import variables_of

_sql = load_sql(Path(__file__).with_suffix(".sql"))
_numbers = msgspec.json.Decoder(dict[str, int]).decode

REGISTRATIONS_A_PAGE = 64
"""Rows of one activity in a scope that are loaded together. Commands wait while a page is loaded."""
REGISTRATIONS_INSIDE = 160
"""Rows inside of completed scopes that come along with a page, roughly."""

Group = tuple[int, int, str, int]
"""Process instance, scope, activity, and the number of rows to load."""
Latest = tuple[int, int, tuple[tuple[str, int], ...]]
"""Process instance, scope, and the activities of which a further page is needed, with the numbers of rows left.

Several of one activity are the pages that a command came to need one after the other: it needs all of them again.
"""


async def load(reader: Connection, state: State, keys: Set[int], latest: Set[Latest]) -> None:
    """Load registrations by key, and the next page of scopes. Rows in memory are newer, and stay.

    A key without a row is remembered in `gone`.
    """
    found = (await reader.execute(_sql["by_key"], (sorted(keys),))).rows if keys else []
    loaded = rows = _add(state, found)
    state.registrations.gone |= keys - state.registrations.by_key.keys()
    pages = Counter(
        (instance, scope, element) for instance, scope, elements in sorted(latest) for element, _ in elements
    )
    groups = [(*group, number * REGISTRATIONS_A_PAGE) for group, number in pages.items()]
    most_inside = REGISTRATIONS_INSIDE * max(pages.values(), default=1)
    if pages:
        groups += (group for group in _groups_inside(_without_inside(state), most_inside) if group[:3] not in pages)
    while groups := [*groups, *_groups_inside(rows, most_inside)]:
        known = list(state.registrations.by_key)
        columns = [list(column) for column in zip(*groups, strict=True)]
        rows = _add(state, (await reader.execute(_sql["latest"], (*columns, known))).rows)
        for _, scope, element, _ in groups:
            state.registrations.sort(scope, element)
        loaded, groups = loaded + rows, []
    await load_variables(reader, loaded)


def _without_inside(state: State) -> list[Registration]:
    """Completed scopes in memory, the latest first, of which memory has nothing that is inside. Otherwise each of them
    would need a load of its own."""
    held = state.registrations
    lacking = (row for row in held.by_key.values() if row.registered and row.activity not in held.of_scope)
    return sorted(lacking, key=lambda row: -row.key)


def _groups_inside(rows: list[Registration], most: int) -> Iterator[Group]:
    """The activities inside of the latest loaded scopes."""
    count = 0
    for row in rows:
        for element, number in row.registered.items():
            if count < most:
                count += min(number, REGISTRATIONS_A_PAGE)
                yield row.instance.key, row.activity, element, REGISTRATIONS_A_PAGE


def _add(state: State, rows: Iterable[tuple[Any, ...]]) -> list[Registration]:
    """Add stored rows to the state. Those of an instance that is not in memory are of no use."""
    added = []
    for key, instance_key, scope, activity, element, is_scope, handler, registered, running in rows:
        instance = state.elements.get(instance_key)
        if isinstance(instance, Instance) and key not in state.registrations.by_key:
            numbers = _numbers(registered)
            row = Registration(key, instance, scope, activity, element, is_scope, handler, numbers, running)
            state.registrations.add_loaded(row)
            added.append(row)
    return added


async def load_variables(reader: Connection, rows: list[Registration]) -> None:
    """Load the variables of completed scopes."""
    scopes = {row.activity: row for row in rows if row.is_scope}
    if scopes:
        places = {scope: row.instance.key for scope, row in scopes.items()}
        for key, scope, name, value in (await reader.execute(*variables_of(places))).rows:
            row = scopes[scope]
            row.variables[name] = Variable(key, row.instance, name, value)


async def load_past(reader: Connection, elements: Iterable[Element]) -> None:
    """Load the variables of the completed scopes that the handlers among these elements see."""
    handlers = [element for element in elements if element.compensation is not None and element.compensation.seen]
    if not handlers:
        return
    places = {key: one.instance.key for one in handlers if one.compensation for key in one.compensation.seen}
    seen = {key: dict[str, Variable]() for key in places}
    for key, scope, name, value in (await reader.execute(*variables_of(places))).rows:
        seen[scope][name] = Variable(key, handlers[0].instance, name, value)
    for handler in handlers:
        assert handler.compensation is not None, "handlers compensate"
        handler.past = past_scopes([(key, seen[key]) for key in handler.compensation.seen], handler.scope)


async def load_whole(reader: Connection, state: State, instance: int, most: int) -> None:
    """Load those of an instance, for a migration: at most so many. Rows in memory are newer, and stay."""
    loaded = _add(state, (await reader.execute(_sql["of_instances"], ([instance], most))).rows)
    for scope, element in {(row.scope, row.element) for row in loaded}:
        state.registrations.sort(scope, element)
    await load_variables(reader, loaded)


async def load_all(reader: Connection, state: State, most: int) -> list[Registration]:
    """Load all of the instances in memory, for a snapshot: at most so many, without variables."""
    instances = sorted(element.key for element in state.elements.values() if isinstance(element, Instance))
    return _add(state, (await reader.execute(_sql["of_instances"], (instances, most))).rows)
