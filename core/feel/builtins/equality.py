"""A hashable key for each value, with which one pass finds the equal values of a long list.

The keys of two values are equal if FEEL's `=` is true for them. Keys of different types differ, as `1` and `true` do.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from vivero.core.feel.semantics import kind
from vivero.core.feel.values import BuiltinFunction, Function, FunctionFailure, Range, Run


def equality_key(run: Run, value: Any) -> Hashable:
    """The key of a value. Spends a step for each nested value. Raises FunctionFailure if it is nested too deeply."""
    try:
        return _key(run, value)
    except RecursionError:
        raise FunctionFailure("the value is nested too deeply") from None


def _key(run: Run, value: Any) -> Hashable:
    if type(value) is str or value is None:
        return value
    if type(value) is list:
        run.spend(8 + 8 * len(value))
        return "list", tuple([_key(run, item) for item in value])
    if type(value) is dict:
        run.spend(8 + 8 * len(value))
        return "context", frozenset([(name, _key(run, item)) for name, item in value.items()])
    if type(value) is Range:
        return "range", _key(run, value.start), _key(run, value.end), value.start_included, value.end_included
    if isinstance(value, Function | BuiltinFunction):
        return "function", id(value)
    return kind(value), value
