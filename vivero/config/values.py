"""Values of settings: from the text of the environment, or a value of the TOML file, to the type of a setting."""

from __future__ import annotations

import math
import types
import typing
from pathlib import Path
from typing import Any

from vivero.config.json_input import parsed

MAX_DIGITS = 20
"""The digits of a whole number."""
MAX_SHOWN = 200
"""Characters of a wrong value that a message shows."""


def short(value: Any) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def typed_as(kind: Any, value: Any) -> Any:
    """A value, which is a string if it comes from the environment, in the type of its setting.

    Raises:
        TypeError: it has another type.
        ValueError: it is not in the range of the type, or no text of such a value.
    """
    if isinstance(kind, types.UnionType):
        if value is None:
            return None
        kind = next(option for option in typing.get_args(kind) if option is not types.NoneType)
    if typing.get_origin(kind) is tuple:
        return _texts(value)
    if typing.get_origin(kind) is dict:
        return _table(value)
    if kind is bool:
        return _boolean(value)
    if isinstance(value, str) and kind in (int, float, Path):
        if kind is int and len(value) > MAX_DIGITS:
            raise ValueError("it is too large")
        value = kind(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"it must have the type {kind.__name__}")
    return value


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError as error:  # a whole number of a thousand digits
        raise ValueError("it is too large") from error
    if not math.isfinite(number):
        raise ValueError("it must be a finite number")
    return number


def _table(value: Any) -> dict[str, str]:
    """A table of texts: in the file a table, in the environment a JSON object."""
    given = parsed(value) if isinstance(value, str) else value
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise TypeError("it must be a table of texts")
    return given


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError("it must be a list of texts")
    return tuple(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("it must be true or false")
