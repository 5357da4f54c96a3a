"""What operators mean: types, equality, order, the text of a value. Shared by the evaluator and the built-ins."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from types import NoneType
from typing import Any

from engine.feel.values import (
    INVALID_TYPE,
    NOT_COMPARABLE,
    BuiltinFunction,
    Function,
    Range,
    Run,
)

_KINDS: dict[type, str] = {
    int: "number",
    Decimal: "number",
    str: "string",
    bool: "boolean",
    NoneType: "null",
    list: "list",
    dict: "context",
    Range: "range",
    Function: "function",
    BuiltinFunction: "function",
}
_ORDERED = frozenset(
    {
        "number",
        "string",
        "date",
        "time",
        "local time",
        "date and time",
        "local date and time",
        "years and months duration",
        "days and time duration",
    }
)
_TYPE_NAMES = {"local time": "time", "local date and time": "date and time"}
_SCALARS = frozenset({int, Decimal, str, bool})


def kind(value: Any) -> str:
    """The type that decides whether two values compare. A time with an offset and one without are of two kinds."""
    return _KINDS.get(type(value)) or value.kind


def type_name(value: Any) -> str:
    """The type's name in FEEL, as behind `instance of`."""
    name = kind(value)
    return _TYPE_NAMES.get(name, name)


def are_ordered(a: Any, b: Any) -> bool:
    """True if `a < b` has an answer."""
    name = kind(a)
    return name in _ORDERED and kind(b) == name


def equal(run: Run, a: Any, b: Any) -> bool | None:
    """`a = b`. None: values of these types do not compare (null compares with everything). Warns of nothing."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is kind_b and kind_a in _SCALARS:
        return a == b  # type: ignore[no-any-return]
    if a is None or b is None:
        return a is b
    name = kind(a)
    if name != kind(b) or name == "function":
        return None
    if kind_a is list:
        return _equal_lists(run, a, b)
    if kind_a is dict:
        return _equal_contexts(run, a, b)
    if kind_a is Range:
        return _equal_ranges(run, a, b)
    return a == b  # type: ignore[no-any-return]


def _equal_lists(run: Run, a: list[Any], b: list[Any]) -> bool:
    if len(a) != len(b):
        return False
    run.spend(4 + 4 * len(a))
    return all(equal(run, x, y) is True for x, y in zip(a, b, strict=True))


def _equal_contexts(run: Run, a: dict[str, Any], b: dict[str, Any]) -> bool:
    if a.keys() != b.keys():
        return False
    run.spend(4 + 4 * len(a))
    return all(equal(run, value, b[key]) is True for key, value in a.items())


def _equal_ranges(run: Run, a: Range, b: Range) -> bool:
    return (
        a.start_included == b.start_included
        and a.end_included == b.end_included
        and equal(run, a.start, b.start) is True
        and equal(run, a.end, b.end) is True
    )


def checked_equal(run: Run, a: Any, b: Any) -> bool | None:
    """`a = b`, with the warning that belongs to None."""
    result = equal(run, a, b)
    if result is None:
        warn_not_comparable(run, a, b)
    return result


def contains(run: Run, items: list[Any], value: Any) -> bool:
    """True if an item equals the value; items of other types do not."""
    run.spend(4 + 2 * len(items))
    return any(equal(run, item, value) is True for item in items)


def in_range(value: Any, interval: Range) -> bool | None:
    """True if the value is inside; None if it does not compare with an end."""
    start, end = interval.start, interval.end
    if (start is not None and not are_ordered(value, start)) or (end is not None and not are_ordered(value, end)):
        return None
    if start is not None and not (value >= start if interval.start_included else value > start):
        return False
    return end is None or bool(value <= end if interval.end_included else value < end)


def warn_not_comparable(run: Run, a: Any, b: Any) -> None:
    if run.wants_warnings:
        run.warn(NOT_COMPARABLE, f"Can't compare '{shown(run, a)}' with '{shown(run, b)}'")


def warn_type(run: Run, expected: str, found: Any) -> None:
    if run.wants_warnings:
        run.warn(INVALID_TYPE, f"Expected {expected} but found '{shown(run, found)}'")


def display(value: Any, size: int) -> str:
    """The text of a value as `string()` and messages give it. Stops with … after about `size` characters."""
    parts, length = [], 0
    for part in _display(value):
        parts.append(part)
        length += len(part)
        if length > size:
            parts.append("…")
            break
    return "".join(parts)


def shown(run: Run, value: Any) -> str:
    """The text of a value for a message."""
    return display(value, run.limits.message_size)


def _display(value: Any) -> Iterator[str]:
    kind_ = type(value)
    if kind_ is str:
        yield f'"{value}"'
    elif kind_ is list:
        yield "["
        for index, item in enumerate(value):
            if index:
                yield ", "
            yield from _display(item)
        yield "]"
    elif kind_ is dict:
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield f"{', ' if index else ''}{key}:"
            yield from _display(item)
        yield "}"
    elif kind_ is Range:
        yield "[" if value.start_included else "("
        yield from _display_end(value.start)
        yield ".."
        yield from _display_end(value.end)
        yield "]" if value.end_included else ")"
    else:
        yield _display_scalar(value)


def _display_end(end: Any) -> Iterator[str]:
    if end is not None:
        yield from _display(end)


def _display_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is Function:
        return f"function({', '.join(value.parameters)})"
    if type(value) is BuiltinFunction:
        return f"function({', '.join(value.overloads[0].parameters)})"
    return str(value)
