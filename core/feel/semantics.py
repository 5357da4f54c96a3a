"""Types, equality, order and texts of values, for operators and built-in functions."""

from __future__ import annotations

import sys
from decimal import Decimal
from types import NoneType
from typing import Any

from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.temporal import TEMPORAL_TYPES
from vivero.core.feel.values import INVALID_TYPE, NOT_COMPARABLE, BuiltinFunction, Function, Range, Run

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
    """The type that decides whether two values compare. Times with and without an offset are different kinds."""
    return _KINDS.get(type(value)) or _kind_of_temporal(value)


def _kind_of_temporal(value: Any) -> str:
    if type(value) not in TEMPORAL_TYPES:
        raise EvaluationError(f"The Python type {type(value).__name__} is not a type of FEEL values")
    return value.kind  # type: ignore[no-any-return]


def type_name(value: Any) -> str:
    """The type's name in FEEL, as after `instance of`."""
    name = kind(value)
    return _TYPE_NAMES.get(name, name)


def are_ordered(a: Any, b: Any) -> bool:
    """True if `a < b` is defined."""
    name = kind(a)
    return name in _ORDERED and kind(b) == name


def equal(run: Run, a: Any, b: Any) -> bool | None:
    """`a = b`, without warnings. None if values of these types do not compare; null compares with every value."""
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
    run.spend(8 + 8 * len(a))
    return all(equal(run, x, y) is True for x, y in zip(a, b, strict=True))


def _equal_contexts(run: Run, a: dict[str, Any], b: dict[str, Any]) -> bool:
    if a.keys() != b.keys():
        return False
    run.spend(8 + 8 * len(a))
    return all(equal(run, value, b[key]) is True for key, value in a.items())


def _equal_ranges(run: Run, a: Range, b: Range) -> bool:
    return (
        a.start_included == b.start_included
        and a.end_included == b.end_included
        and equal(run, a.start, b.start) is True
        and equal(run, a.end, b.end) is True
    )


def checked_equal(run: Run, a: Any, b: Any) -> bool | None:
    """`a = b`. If the values do not compare, warns and gives None."""
    result = equal(run, a, b)
    if result is None:
        warn_not_comparable(run, a, b)
    return result


def contains(run: Run, items: list[Any], value: Any) -> bool:
    """True if an item equals the value. Items of other types never do."""
    run.spend(4 + 3 * len(items))
    return any(equal(run, item, value) is True for item in items)


def in_range(value: Any, interval: Range) -> bool | None:
    """True if the range contains the value; None if the value does not compare with an end."""
    start, end = interval.start, interval.end
    if (start is not None and not are_ordered(value, start)) or (end is not None and not are_ordered(value, end)):
        return None
    if start is not None and not (value >= start if interval.start_included else value > start):
        return False
    return end is None or bool(value <= end if interval.end_included else value < end)


def warn_not_comparable(run: Run, a: Any, b: Any) -> None:
    if run.may_warn():
        run.warn(NOT_COMPARABLE, f"Can't compare '{message_text(run, a)}' with '{message_text(run, b)}'")


def warn_type(run: Run, expected: str, found: Any) -> None:
    if run.may_warn():
        run.warn(INVALID_TYPE, f"Expected {expected} but found '{message_text(run, found)}'")


def display(value: Any, size: int, parts: int = sys.maxsize) -> str:
    """The text of a value for people. Longer texts are cut after about `size` characters and end in ….

    `parts`: the scalars, brackets and commas at most, which bound the time.
    """
    writer = _Writer(size, parts=parts)
    try:
        writer.write(value)
    except _TextTooLong:
        writer.parts.append("…")
    return "".join(writer.parts)


def message_text(run: Run, value: Any) -> str:
    """The text of a value for a warning or a failure. Spends steps."""
    text = display(value, run.limits.message_size)
    run.spend(len(text) >> 1)
    return text


def text_of(run: Run, value: Any) -> str:
    """The text that `string()` gives. Spends steps for each item. Raises LimitExceeded if the text is too long."""
    writer = _Writer(run.limits.string_size, run)
    try:
        writer.write(value)
    except _TextTooLong:
        run.check_string(run.limits.string_size + 1)
    return "".join(writer.parts)


class _TextTooLong(Exception):
    """The text of a value exceeds the writer's size."""


class _Writer:
    """Collects the parts of a value's text."""

    __slots__ = ("left", "most", "parts", "run")

    def __init__(self, size: int, run: Run | None = None, parts: int = sys.maxsize) -> None:
        self.left = size
        self.most = parts
        self.run = run
        self.parts: list[str] = []

    def put(self, part: str) -> None:
        self.parts.append(part)
        self.left -= len(part)
        if self.left < 0 or len(self.parts) > self.most:
            raise _TextTooLong

    def write(self, value: Any) -> None:
        value_type = type(value)
        if value_type is str:
            self.put(f'"{value}"')
        elif value_type is list:
            self.write_list(value)
        elif value_type is dict:
            self.write_context(value)
        elif value_type is Range:
            self.write_range(value)
        else:
            self.put(_display_scalar(value))

    def spend(self, items: int) -> None:
        if self.run is not None:
            self.run.spend(8 + 8 * items)

    def write_list(self, items: list[Any]) -> None:
        self.spend(len(items))
        separator = "["
        for item in items:
            self.put(separator)
            self.write(item)
            separator = ", "
        self.put("]" if items else "[]")

    def write_context(self, context: dict[str, Any]) -> None:
        self.spend(len(context))
        separator = "{"
        for key, item in context.items():
            self.put(f"{separator}{key}:")
            self.write(item)
            separator = ", "
        self.put("}" if context else "{}")

    def write_range(self, value: Range) -> None:
        self.put("[" if value.start_included else "(")
        if value.start is not None:
            self.write(value.start)
        self.put("..")
        if value.end is not None:
            self.write(value.end)
        self.put("]" if value.end_included else ")")


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
