"""Arguments of tool calls against the JSON schema of the tool: types, required properties, enumerations and bounds.

Other keywords are not checked: a tool's own expressions see what is wrong then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

MAX_PROBLEMS = 5
MAX_DEPTH = 32

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "number": (int, Decimal),
    "integer": (int, Decimal),
    "null": (type(None),),
}


def problems(value: Any, schema: Any) -> list[str]:
    """The first problems of a value, as sentences for the model. Empty: it fits."""
    found: list[str] = []
    for problem in _problems(value, schema, "", 0):
        found.append(problem)
        if len(found) == MAX_PROBLEMS:
            break
    return found


def _problems(value: Any, schema: Any, path: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return
    place = f"'{path}'" if path else "the arguments"
    kinds = schema.get("type")
    allowed = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    if allowed and not any(_is(value, kind) for kind in allowed):
        yield f"{place} must be of type {' or '.join(map(str, allowed))}"
        return
    options = schema.get("enum")
    if isinstance(options, list) and value not in options:
        yield f"{place} must be one of the values that its schema lists"
    if isinstance(value, dict):
        yield from _of_object(value, schema, path, depth)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, schema.get("items"), f"{path}[{number}]", depth + 1)
    else:
        yield from _bounds(value, schema, place)


def _is(value: Any, kind: Any) -> bool:
    types = _TYPES.get(kind) if isinstance(kind, str) else None
    if types is None:
        return True  # a type that only the model's author knows
    if isinstance(value, bool):
        return bool(kind == "boolean")
    if kind == "integer" and isinstance(value, Decimal):
        return value.is_finite() and bool(value == int(value))
    return isinstance(value, types)


def _of_object(value: Mapping[str, Any], schema: Mapping[str, Any], path: str, depth: int) -> Iterator[str]:
    required, properties = schema.get("required"), schema.get("properties")
    before = f"{path}." if path else ""
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in value:
            yield f"'{before}{name}' is missing"
    known = properties if isinstance(properties, dict) else {}
    for name, item in value.items():
        if name in known:
            yield from _problems(item, known[name], f"{before}{name}", depth + 1)
        elif schema.get("additionalProperties") is False:
            yield f"'{before}{name}' is not a property of the tool"


def _bounds(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, int | Decimal) and value < least:
        yield f"{place} must be at least {least}"
    if isinstance(most, int | Decimal) and value > most:
        yield f"{place} must be at most {most}"
