"""Changes of the deferred work of instance trees, and of the suspended work of process instances."""

from __future__ import annotations

from collections.abc import Callable

from vivero.core.state.instance_tree import SUSPENDED_ITEM_WEIGHT, Instance, InstanceTree, WorkRows
from vivero.core.state.state import State
from vivero.core.state.work_rows import ITEMS_PER_ROW, Items, rows_for


def append_work(state: State, tree: InstanceTree, items: Items) -> None:
    _set_work(state, tree, tree.work + items, len(tree.work))


def take_work(state: State, tree: InstanceTree, number: int) -> None:
    """Remove the latest items."""
    left = len(tree.work) - number
    _set_work(state, tree, tree.work[:left], left)


def take_page(state: State, tree: InstanceTree, key: int, stage: str) -> None:
    """Remove the first item with this key and stage."""
    place = next((place for place, item in enumerate(tree.work) if item[:2] == (key, stage)), None)
    if place is not None:
        _set_work(state, tree, tree.work[:place] + tree.work[place + 1 :], place)


def remove_work(state: State, tree: InstanceTree, is_gone: Callable[[int, str], bool]) -> bool:
    """Remove items by key and stage. Returns whether there were any."""
    left, unchanged = _without(tree.work, is_gone)
    if len(left) == len(tree.work):
        return False
    _set_work(state, tree, left, unchanged)
    return True


def append_suspended(state: State, instance: Instance, items: Items) -> None:
    _set_suspended(state, instance, instance.suspended_work + items, len(instance.suspended_work))


def remove_suspended(state: State, instance: Instance, is_gone: Callable[[int, str], bool]) -> None:
    """Remove items by key and stage."""
    left, unchanged = _without(instance.suspended_work, is_gone)
    if len(left) < len(instance.suspended_work):
        _set_suspended(state, instance, left, unchanged)


def clear_suspended(state: State, instance: Instance) -> None:
    if instance.suspended_work:
        _set_suspended(state, instance, (), 0)


def _without(items: Items, is_gone: Callable[[int, str], bool]) -> tuple[Items, int]:
    """The items that stay, and how many come before the first one that does not."""
    gone = [is_gone(key, stage) for key, stage, _ in items]
    if True not in gone:
        return items, len(items)
    return tuple(item for item, goes in zip(items, gone, strict=True) if not goes), gone.index(True)


def _set_work(state: State, tree: InstanceTree, items: Items, unchanged: int) -> None:
    """Set the items, of which the first ones are `unchanged`."""
    state.edit(tree)
    rows = _rows(state, tree.root, False, tree.work_rows, len(items), unchanged)
    tree.work, tree.work_rows = items, rows


def _set_suspended(state: State, instance: Instance, items: Items, unchanged: int) -> None:
    state.edit(instance)
    rows = _rows(state, instance, True, instance.suspended_rows, len(items), unchanged)
    state.add_weight(instance.tree, SUSPENDED_ITEM_WEIGHT * (len(items) - len(instance.suspended_work)))
    instance.suspended_work, instance.suspended_rows = items, rows


def _rows(state: State, instance: Instance, suspended: bool, rows: int, items: int, unchanged: int) -> int:
    """The number of rows from now on. The rows behind the unchanged ones are saved with the batch.

    The latest item is never in a row: the instance itself says whether anything waits.
    """
    kept = min(rows, min(unchanged, max(items - 1, 0)) // ITEMS_PER_ROW)
    following = rows_for(items, kept)
    if kept < rows or kept < following:
        state.add(WorkRows(instance.key, instance, suspended, kept))
    return following
