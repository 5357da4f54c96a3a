"""Undoing a command that raised."""

from __future__ import annotations

from typing import Any

from vivero.core.state.instance_tree import MISSING, Element, Instance, InstanceTree, Job, Variable
from vivero.core.state.rows import Row
from vivero.core.state.state import State


def undo(state: State) -> None:
    """Restore the state before the current command, including the next key."""
    _restore_links(state)
    _remove_new_rows(state)
    _restore_rows(state)
    for row, field, before in reversed(state.renames):  # an image may have been taken after one
        setattr(row, field, before)
    for part, before in state.row_counts.items():
        part.rows = before
    state.next_key = state.first_key
    state.begin_command()


def places_of(row: Row, state: State) -> tuple[tuple[dict[Any, Any], Any, Any], ...]:
    """The dictionaries in which an applier puts a new row without `State.link`, each with key and value."""
    if isinstance(row, Element):
        in_scope = () if row.scope is None else ((row.scope.children, row.key, row),)
        is_root = isinstance(row, Instance) and row.parent_instance is None
        in_trees = ((state.trees, row.key, row.tree),) if is_root else ()
        return ((state.elements, row.key, row), *in_scope, *in_trees)
    if isinstance(row, Variable):
        return ((row.scope.variables, row.name, row),)
    if isinstance(row, Job):
        return ((state.jobs, row.key, row), (row.element.waits.jobs, row.key, row))
    return ()


def _restore_links(state: State) -> None:
    put_back: dict[int, dict[Any, Any]] = {}
    for row in state.removed:
        for where, key, value in places_of(row, state):
            where[key] = value
            put_back[id(where)] = where
    for where, key, old in reversed(state.links):
        if old is MISSING:
            del where[key]
        else:
            where[key] = old
            put_back[id(where)] = where
    indexes = (state.elements, state.jobs, state.incidents, state.timers, state.user_tasks, state.registrations.by_key)
    for index in (*indexes, state.trees):  # which has the least recently used tree first
        put_back.pop(id(index), None)  # rows are only looked up in these, by key, and there may be many thousands
    for where in put_back.values():
        _restore_order(where)


def _restore_order(where: dict[Any, Any]) -> None:
    """Sort rows by key, which is their order when they are loaded."""
    if all(isinstance(key, int) for key in where):
        rows = sorted(where.items())
        where.clear()
        where.update(rows)


def _remove_new_rows(state: State) -> None:
    """Their dictionaries are found before other rows have their images back. An applier may have been interrupted."""
    for row, entry in state.images.items():
        if entry is None:
            for where, key, _ in places_of(row, state):
                where.pop(key, None)


def _restore_rows(state: State) -> None:
    for row, entry in state.images.items():
        if isinstance(row, InstanceTree):
            state.weight -= row.weight
        if entry is None:
            del state.dirty[row]
            state.fresh.remove(row)
            continue
        image, was_dirty = entry
        for name in row.__struct_fields__:
            setattr(row, name, getattr(image, name))
        if isinstance(row, InstanceTree):
            state.weight += row.weight
        if not was_dirty:
            del state.dirty[row]
