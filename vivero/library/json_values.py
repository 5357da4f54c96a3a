"""Values of variables as JSON."""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec


def to_json(name: str, value: Any) -> bytes:
    """The value of a variable as JSON. Raises TypeError for one that JSON does not have, as an infinite number."""
    text = msgspec.json.encode(value)
    if b"null" in text and not _is_finite(msgspec.to_builtins(value)):  # the encoder writes null for such a number
        raise TypeError(f"JSON has no infinite number and no NaN, and the variable {name!r} has one")
    return text


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or isfinite(value)
