"""A hashable stand-in for each value, so that finding equal values in long lists takes one pass.

Values have equal keys where FEEL's `=` is true for them; values of different types never have (`1` and `true` differ).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from vivero.engine.feel.semantics import kind
from vivero.engine.feel.values import BuiltinFunction, Function, FunctionFailure, Range, Run


def equality_key(run: Run, value: Any) -> Hashable:
    """The key of a value. Takes a step for each value inside. Raises FunctionFailure where it is nested too deeply."""
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
