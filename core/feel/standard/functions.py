"""Built-in functions: arguments that are converted to what a function takes, and stricter checks (DMN 1.5, 10.3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from types import MappingProxyType
from typing import Any

from vivero.core.feel import builtins
from vivero.core.feel.builtins import contexts, ranges
from vivero.core.feel.standard import lists, strings
from vivero.core.feel.standard.texts import text_of
from vivero.core.feel.temporal import TEMPORAL_TYPES
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Run

_LIST = "list"


def _converting(overload: Overload) -> Overload:
    """The overload with implicit conversions: a list of one where an item is wanted, and the reverse (10.3.2.9.4)."""
    fn, parameters = overload.fn, overload.parameters
    collected = len(parameters) - 1 if overload.varargs else len(parameters)

    @wraps(fn)
    def call(run: Run, *arguments: Any) -> Any:
        try:
            return fn(run, *arguments)
        except FunctionFailure:
            fixed = zip(parameters[:collected], arguments, strict=False)
            converted = [*(_converted(*each) for each in fixed), *arguments[collected:]]
            if all(a is b for a, b in zip(converted, arguments, strict=True)):
                raise
            return fn(run, *converted)

    return replace(overload, fn=call)


def _converted(parameter: str, value: Any) -> Any:
    if parameter == _LIST:
        return value if type(value) is list or value is None else [value]
    return value[0] if type(value) is list and len(value) == 1 else value


def _context_put(run: Run, of: Any, key: Any, value: Any) -> Any:
    """The context with an entry added or replaced. A path of keys must lead through contexts."""
    inner = of
    for part in key[:-1] if type(key) is list else ():
        inner = inner.get(part) if type(inner) is dict else None
        if inner is not None and type(inner) is not dict:
            raise IllegalArguments
    return contexts.context_put(run, of, key, value)


def _context_of(run: Run, entries: Any) -> Any:
    """A context from a list of entries. Two entries with one key fail."""
    result = contexts.context_of(run, entries)
    if type(entries) is list and len(result) < len(entries):
        raise FunctionFailure("two entries have one key")
    return result


def _string_of(run: Run, value: Any) -> Any:
    return value if value is None or type(value) is str else text_of(run, value)


def _overridden() -> Mapping[str, tuple[Overload, ...]]:
    table = dict(builtins.FUNCTIONS)
    table["abs"] = tuple(each for each in table["abs"] if each.parameters == ("n",))
    table["context"] = (Overload(("entries",), _context_of),)
    table["context put"] = tuple(replace(each, fn=_context_put) for each in table["context put"])
    table["string"] = (Overload(("from",), _string_of),)
    table |= ranges.relations((str, *TEMPORAL_TYPES))
    for name, fn in {**strings.FUNCTIONS, **lists.FUNCTIONS}.items():
        table[name] = tuple(replace(each, fn=fn) for each in table[name])
    for name, overload in lists.BY_NAME.items():
        table[name] = (*table[name], overload)
    return {name: tuple(map(_converting, overloads)) for name, overloads in table.items()}


FUNCTIONS: Mapping[str, tuple[Overload, ...]] = MappingProxyType(_overridden())
"""All built-in functions by name."""
