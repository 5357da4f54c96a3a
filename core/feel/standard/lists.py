"""Functions of lists whose positions are checked: outside of the list they give null (DMN 1.5, 10.3.4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vivero.core.feel.builtins import lists
from vivero.core.feel.builtins.arguments import items, whole
from vivero.core.feel.values import FunctionFailure, Overload, Run


def check_part(size: int, start: int, length: int | None = None) -> None:
    """Raise FunctionFailure for a part that is not within `size` items, counted from 1, or from the end."""
    if start == 0 or abs(start) > size:
        raise FunctionFailure(f"The position {start} is out of range")
    most = size - start + 1 if start > 0 else -start
    if length is not None and not 1 <= length <= most:
        raise FunctionFailure(f"The length {length} is out of range")


def sublist(run: Run, of: Any, start: Any, *length: Any) -> Any:
    """Consecutive items: `length` of them, or all from `start` on."""
    check_part(len(items(run, of)), whole(start), *map(whole, length))
    return lists.sublist(run, of, start, *length) if length else lists.sublist_from(run, of, start)


def insert_before(run: Run, of: Any, position: Any, item: Any) -> Any:
    """The list with an item more."""
    check_part(len(items(run, of)), whole(position))
    return lists.insert_before(run, of, position, item)


def remove(run: Run, of: Any, position: Any) -> Any:
    """The list without the item at a position."""
    check_part(len(items(run, of)), whole(position))
    return lists.remove(run, of, position)


def append_one(run: Run, of: Any, item: Any) -> Any:
    """`append(list: l, item: i)`: a call by name has one item."""
    return lists.append(run, of, [item])


def of_one(fn: Callable[[Run, Any], Any]) -> Callable[[Run, Any], Any]:
    """A function of several lists, called by name with one."""
    return lambda run, of: fn(run, [items(run, of)])


BY_NAME: Mapping[str, Overload] = {
    "append": Overload(("list", "item"), append_one),
    "concatenate": Overload(("list",), of_one(lists.concatenate)),
    "union": Overload(("list",), of_one(lists.union)),
}
"""Overloads for calls by name, with the parameters that DMN gives functions of many arguments."""
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sublist": sublist,
    "insert before": insert_before,
    "remove": remove,
}
"""By name. Each takes the arguments of all overloads of the common function."""
