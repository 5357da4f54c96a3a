"""Built-in functions on lists (DMN 1.5, 10.3.4.4). Positions count from 1, or from the end if negative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from vivero.core.feel.builtins import arguments
from vivero.core.feel.builtins.arguments import call, items, whole
from vivero.core.feel.builtins.equality import equality_key
from vivero.core.feel.semantics import contains, equal, message_text
from vivero.core.feel.values import BuiltinFunction, Function, FunctionFailure, IllegalArguments, Overload, Run


def list_contains(run: Run, of: Any, element: Any) -> Any:
    return contains(run, items(run, of), element)


def index_of(run: Run, of: Any, match: Any) -> Any:
    return [i for i, item in enumerate(items(run, of), 1) if equal(run, item, match) is True]


def _index(values: list[Any], position: int) -> int:
    """The index of a position, counted from 0: the length for position 0, negative before the first item."""
    return position - 1 if position > 0 else len(values) + position


def _nonzero_position(position: Any) -> int:
    result = whole(position)
    if result == 0:
        raise FunctionFailure("position must be a non-zero number")
    return result


def sublist_from(run: Run, of: Any, start: Any) -> Any:
    values = items(run, of)
    return values[max(_index(values, whole(start)), 0) :]


def sublist(run: Run, of: Any, start: Any, length: Any) -> Any:
    values = items(run, of)
    first = _index(values, whole(start))
    return values[max(first, 0) : max(first + whole(length), 0)]


def append(run: Run, of: Any, more: Any) -> Any:
    return _joined(run, [items(run, of), items(run, more)])


def concatenate(run: Run, lists: Any) -> Any:
    return _joined(run, _as_lists(items(run, lists)))


def _as_lists(values: list[Any]) -> list[list[Any]]:
    return [value if type(value) is list else [value] for value in values]


def _joined(run: Run, lists: list[list[Any]]) -> list[Any]:
    size = sum(map(len, lists))
    run.check_list(size)
    run.spend(size)
    return [item for values in lists for item in values]


def insert_before(run: Run, of: Any, position: Any, item: Any) -> Any:
    values = items(run, of)
    index = max(_index(values, _nonzero_position(position)), 0)
    return [*values[:index], item, *values[index:]]


def remove(run: Run, of: Any, position: Any) -> Any:
    """The list without the item at a position; the list itself if it has no such position."""
    values = items(run, of)
    index = _index(values, _nonzero_position(position))
    return [item for i, item in enumerate(values) if i != index]


def list_replace(run: Run, of: Any, position: Any, item: Any) -> Any:
    """The list with items replaced: the item at a position, or each item for which `match(item, new item)` is true."""
    values = items(run, of)
    if isinstance(position, Function | BuiltinFunction):
        return _replace_matches(run, values, position, item)
    index = _index(values, _nonzero_position(position))
    if not 0 <= index < len(values):
        raise FunctionFailure(f"The list has no position {message_text(run, position)}")
    return [*values[:index], item, *values[index + 1 :]]


def _replace_matches(run: Run, values: list[Any], match: Function | BuiltinFunction, new: Any) -> list[Any]:
    if 2 not in arguments.arities(match):
        raise IllegalArguments
    answers = [call(run, match, (value, new)) for value in values]
    for answer in answers:
        _check_boolean(run, answer)
    return [new if answer else value for value, answer in zip(values, answers, strict=True)]


def _check_boolean(run: Run, value: Any) -> None:
    if type(value) is not bool:
        raise FunctionFailure(f"expected boolean but found '{message_text(run, value)}'")


def reverse(run: Run, of: Any) -> Any:
    return items(run, of)[::-1]


def union(run: Run, lists: Any) -> Any:
    return distinct_values(run, concatenate(run, lists))


def distinct_values(run: Run, of: Any) -> Any:
    """Each value once, in the order of their first places."""
    values = items(run, of)
    return [*_first_places([equality_key(run, value) for value in values], values).values()]


def duplicate_values(run: Run, of: Any) -> Any:
    """Each value that occurs more than once, in the order of their first places."""
    values = items(run, of)
    keys = [equality_key(run, value) for value in values]
    counts = Counter(keys)
    return [value for key, value in _first_places(keys, values).items() if counts[key] > 1]


def _first_places(keys: list[Hashable], values: list[Any]) -> dict[Hashable, Any]:
    first: dict[Hashable, Any] = {}
    for key, value in zip(keys, values, strict=True):
        first.setdefault(key, value)
    return first


def flatten(run: Run, of: Any) -> Any:
    """The items of all nested lists, at any depth."""
    result: list[Any] = []
    stack = [iter(items(run, of))]
    while stack:
        for item in stack[-1]:
            if type(item) is list:
                run.spend(3 * len(item))
                stack.append(iter(items(run, item)))
                break
            result.append(item)
            run.check_list(len(result))
        else:
            stack.pop()
    return result


class _Sorted:
    """An item whose order is the function `precedes`."""

    __slots__ = ("precedes", "value")

    def __init__(self, value: Any, precedes: Callable[[Any, Any], bool]) -> None:
        self.value = value
        self.precedes = precedes

    def __lt__(self, other: _Sorted) -> bool:
        return self.precedes(self.value, other.value)


def sort(run: Run, of: Any, precedes: Any) -> Any:
    """A stable sort. `precedes(a, b)` is true if a comes before b."""
    values, function = items(run, of), arguments.function(precedes)
    if 2 not in arguments.arities(function):
        raise FunctionFailure(f"expect boolean function with 2 arguments, but found '{arguments.arities(function)[0]}'")

    def less(a: Any, b: Any) -> bool:
        answer = call(run, function, (a, b))
        if type(answer) is not bool:
            found = message_text(run, answer)
            raise FunctionFailure(f"fail to sort list by given precedes function: expected boolean but found '{found}'")
        return answer

    return [item.value for item in sorted(_Sorted(value, less) for value in values)]


def is_empty(run: Run, of: Any) -> Any:
    return not items(run, of)


def partition(run: Run, of: Any, size: Any) -> Any:
    """Consecutive parts of `size` items. The last part may be shorter."""
    values, length = items(run, of), whole(size)
    if length <= 0:
        raise FunctionFailure(f"'size' should be greater than zero but was '{message_text(run, size)}'")
    return [values[start : start + length] for start in range(0, len(values), length)]


def string_join(run: Run, of: Any, delimiter: Any = None, prefix: Any = None, suffix: Any = None) -> Any:
    """The strings of a list, joined. Nulls in the list are skipped; a null delimiter, prefix or suffix is empty."""
    values = items(run, of)
    if any(type(value) is not str and value is not None for value in values):
        raise FunctionFailure(f"expected a list of strings but found '{message_text(run, values)}'")
    between, before, behind = (_optional_string(text) for text in (delimiter, prefix, suffix))
    parts = [value for value in values if value is not None]
    size = sum(map(len, parts)) + len(between) * max(len(parts) - 1, 0) + len(before) + len(behind)
    run.check_string(size)
    run.spend(size // arguments.CHARACTERS_PER_STEP)
    return before + between.join(parts) + behind


def _optional_string(value: Any) -> str:
    if value is not None and type(value) is not str:
        raise IllegalArguments
    return value or ""


_LIST = ("list",)

FUNCTIONS = {
    "list contains": (Overload(("list", "element"), list_contains),),
    "index of": (Overload(("list", "match"), index_of),),
    "sublist": (
        Overload(("list", "start"), sublist_from),
        Overload(("list", "start position"), sublist_from),
        Overload(("list", "start", "length"), sublist),
        Overload(("list", "start position", "length"), sublist),
    ),
    "append": (Overload(("list", "items"), append, varargs=True),),
    "concatenate": (Overload(("lists",), concatenate, varargs=True),),
    "insert before": (Overload(("list", "position", "newItem"), insert_before),),
    "remove": (Overload(("list", "position"), remove),),
    "list replace": (
        Overload(("list", "position", "newItem"), list_replace),
        Overload(("list", "match", "newItem"), list_replace),
    ),
    "reverse": (Overload(_LIST, reverse),),
    "union": (Overload(("lists",), union, varargs=True),),
    "distinct values": (Overload(_LIST, distinct_values),),
    "duplicate values": (Overload(_LIST, duplicate_values),),
    "flatten": (Overload(_LIST, flatten),),
    "sort": (Overload(("list", "precedes"), sort),),
    "is empty": (Overload(_LIST, is_empty),),
    "partition": (Overload(("list", "size"), partition),),
    "string join": (
        Overload(_LIST, string_join),
        Overload(("list", "delimiter"), string_join),
        Overload(("list", "delimiter", "prefix", "suffix"), string_join),
    ),
}
