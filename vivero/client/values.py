"""Values from Python to JSON and back: mappings, dataclasses, Structs, Pydantic models, enums, dates, decimals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec

from vivero.client.answers import ClientError, NotSendable, number_of

_encode = msgspec.json.Encoder(decimal_format="number").encode


def encoded(document: Any) -> bytes:
    """Plain data as JSON. Decimals are numbers with all of their digits."""
    return _encode(document)


@cache
def _decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type_, float_hook=number_of)


def decoded(content: bytes | str, type_: Any) -> Any:
    """JSON of a server as a record or as plain data. A number beyond Python's floats becomes a whole one.

    Raises ClientError if it is something else.
    """
    try:
        return _decoder(type_).decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ClientError(f"the answer is not what a Vivero server sends: {error}") from error


def plain_data(value: Any) -> Any:
    """The value as data that has a form in JSON. Raises any exception: classes of the user convert themselves."""
    found = msgspec.to_builtins(
        dict(value) if isinstance(value, Mapping) else value,
        builtin_types=(Decimal,),
        str_keys=True,
        enc_hook=_to_plain,
    )
    _check_numbers(found)
    _encode(found)
    return found


def variables_from(given: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """Variables for a request: those of a mapping or an object with fields, and the named ones. Raises NotSendable."""
    try:
        found = {} if given is None else plain_data(given)
        more = plain_data(named)
    except Exception as error:  # also those of the user's classes
        raise NotSendable(f"the variables cannot be written as JSON: {error}") from error
    if not isinstance(found, dict):
        raise NotSendable(f"variables must be a mapping or an object with fields, not {type(given).__name__}")
    if both := sorted(found.keys() & more.keys()):
        raise NotSendable(f"the variable {both[0]!r} is given twice: with the others, and by its name")
    return {**found, **more}


def _to_plain(value: Any) -> Any:
    """Plain data, or what msgspec knows, instead of an object that it does not know. Raises TypeError."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(by_alias=True)
    raise TypeError(f"an object of type {type(value).__name__} has no form in JSON")


def _check_numbers(value: Any) -> None:
    """Raise ValueError for a number that JSON does not have, with its path."""
    todo = [("", value)]
    while todo:
        path, at = todo.pop()
        if isinstance(at, dict):
            todo += [(f"{path}.{name}", item) for name, item in at.items()]
        elif isinstance(at, list | tuple):
            todo += [(f"{path}[{number}]", item) for number, item in enumerate(at)]
        elif (isinstance(at, float) and not math.isfinite(at)) or (isinstance(at, Decimal) and not at.is_finite()):
            raise ValueError(f"{path.lstrip('.')} is {at}, which is no number of JSON")
