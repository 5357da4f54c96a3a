"""`to json` and `from json`: FEEL values as JSON text and back (feel-scala 1.20)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Never

from engine.feel.builtins.arguments import string
from engine.feel.semantics import display
from engine.feel.temporal import TEMPORAL_TYPES, iso_format
from engine.feel.values import FunctionFailure, Overload, Run

MAX_DEPTH = 200  # arrays and objects within each other that from json takes
_MAX_PLAIN = 10**21  # whole numbers from here on are written with an exponent, where they have zeros at their end


def to_json(run: Run, value: Any) -> Any:
    """Compact JSON. Temporals become ISO 8601 strings, functions and ranges the strings that `string()` gives."""
    parts: list[str] = []
    try:
        _write(run, value, parts)
    except RecursionError:
        raise FunctionFailure("Failed to convert value to JSON: it is nested too deeply") from None
    text = "".join(parts)
    run.check_string(len(text))
    return text


def _write(run: Run, value: Any, parts: list[str]) -> None:
    run.spend(1)
    if type(value) is list:
        _write_list(run, value, parts)
    elif type(value) is dict:
        _write_context(run, value, parts)
    else:
        parts.append(_scalar(run, value))
        run.spend(len(parts[-1]) // 64)


def _write_list(run: Run, values: list[Any], parts: list[str]) -> None:
    separator = "["
    for value in values:
        parts.append(separator)
        _write(run, value, parts)
        separator = ","
    parts.append("]" if values else "[]")


def _write_context(run: Run, entries: dict[str, Any], parts: list[str]) -> None:
    separator = "{"
    for key, value in entries.items():
        parts.append(f"{separator}{_quoted(key)}:")
        _write(run, value, parts)
        separator = ","
    parts.append("}" if entries else "{}")


def _scalar(run: Run, value: Any) -> str:
    if value is None or type(value) in (bool, int):
        return json.dumps(value)
    if type(value) is str:
        return _quoted(value)
    if type(value) is Decimal:
        return str(int(value)) if value == value.to_integral_value() and abs(value) < _MAX_PLAIN else str(value)
    if isinstance(value, TEMPORAL_TYPES):
        return _quoted(iso_format(value))
    return _quoted(display(value, run.limits.string_size))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def from_json(run: Run, text: Any) -> Any:
    """The value of a JSON text; numbers are rounded to 34 digits. Null gives null."""
    if text is None:
        return None
    source = string(run, text)
    run.spend(len(source) // 4)
    try:
        _check_depth(source)
        return json.loads(source, parse_int=_number(run), parse_float=_number(run), parse_constant=_refuse)
    except (ValueError, ArithmeticError, RecursionError):
        shown = source[: run.limits.message_size]
        raise FunctionFailure(f"Failed to parse JSON from '{shown}'") from None


def _number(run: Run) -> Any:
    def parse(text: str) -> int | Decimal:
        number = run.math.plus(Decimal(text))
        return int(number) if number.as_tuple().exponent == 0 else number

    return parse


def _refuse(constant: str) -> Never:
    """NaN and Infinity are no JSON."""
    raise ValueError(constant)


def _check_depth(source: str) -> None:
    """Raises ValueError for more brackets open at once than MAX_DEPTH, wherever they stand."""
    depth = 0
    in_string = escaped = False
    for character in source:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError("nested too deeply")
        elif character in "]}":
            depth -= 1


FUNCTIONS = {
    "to json": (Overload(("value",), to_json),),
    "from json": (Overload(("json",), from_json), Overload(("value",), from_json)),
}
