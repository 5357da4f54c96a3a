"""Undoing a command that raised."""

from __future__ import annotations

from typing import Any

from vivero.core.state.instance_tree import MISSING
from vivero.core.state.state import State


def undo(state: State) -> None:
    """Restore the state before the current command, including the next key."""
    _restore_links(state)
    _restore_rows(state)
    for row, field, before in reversed(state.renames):  # an image may have been taken after one
        setattr(row, field, before)
    for part, before in state.row_counts.items():
        part.rows = before
    state.next_key = state.first_key
    state.begin_command()


def _restore_links(state: State) -> None:
    put_back: dict[int, dict[Any, Any]] = {}
    for where, key, old in reversed(state.links):
        if old is MISSING:
            del where[key]
        else:
            where[key] = old
            put_back[id(where)] = where
    indexes = (state.elements, state.jobs, state.incidents, state.timers, state.user_tasks, state.registrations.by_key)
    for index in indexes:
        put_back.pop(id(index), None)  # rows are only looked up in these, by key, and there may be many thousands
    for where in put_back.values():
        _restore_order(where)


def _restore_order(where: dict[Any, Any]) -> None:
    """Sort rows by key, which is their order when they are loaded."""
    if all(isinstance(key, int) for key in where):
        rows = sorted(where.items())
        where.clear()
        where.update(rows)


def _restore_rows(state: State) -> None:
    for row, entry in state.images.items():
        if entry is None:
            del state.dirty[row]
            state.fresh.remove(row)
            continue
        image, was_dirty = entry
        for name in row.__struct_fields__:
            setattr(row, name, getattr(image, name))
        if not was_dirty:
            del state.dirty[row]
