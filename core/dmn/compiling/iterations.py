"""Boxed filters and loops (DMN 1.5, 10.2.1.10 to 10.2.1.12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vivero.core.dmn.compiling.given import copied
from vivero.core.feel.closures.filters import item_at
from vivero.core.feel.closures.loops import items_of
from vivero.core.feel.closures.scope import ITERATION_STEPS, Closure
from vivero.core.feel.semantics import warn_type
from vivero.core.feel.values import Range, Run, is_number


def filtering(items: Closure, condition: Closure) -> Closure:
    """The items for which the condition is true; the item at an index if the condition is a number.

    The condition sees `item`, and the entries of an item that is a context.
    """

    def filter_(run: Run) -> Any:
        found = _list(run, items(run))
        if found is None:
            return None
        kept = []
        for item, variables in _scopes(run, found, "item"):
            if type(item) is dict:
                variables.update(item)
            value = condition(run)
            if is_number(value):
                return item_at(list(found), value)
            if value is True:
                kept.append(item)
        return kept

    return _restoring(filter_)


def looping(items: Closure, variable: str, body: Closure) -> Closure:
    """The values of the body for all items. The body sees `partial`, the values so far."""

    def loop(run: Run) -> Any:
        found = _list(run, items(run))
        if found is None:
            return None
        result: list[Any] = []
        for _, variables in _scopes(run, found, variable):
            run.spend(len(result) >> 3)
            variables["partial"] = result[:]
            result.append(body(run))
        return result

    return _restoring(loop)


def quantifying(items: Closure, variable: str, condition: Closure, every: bool) -> Closure:
    """`every`, or `some`. Null at the first item that gives no boolean, which is an error (DMN 1.5, 10.2.1.12)."""

    def quantified(run: Run) -> Any:
        found = _list(run, items(run))
        if found is None:
            return None
        result = every
        for _ in _scopes(run, found, variable):
            value = condition(run)
            if type(value) is not bool:
                warn_type(run, "boolean", value)
                return None
            result = result and value if every else result or value
        return result

    return _restoring(quantified)


def _list(run: Run, value: Any) -> Sequence[Any] | None:
    """The items of a list or range. Any other value is a list of one; null has no items."""
    if type(value) in (list, Range) or value is None:
        return items_of(run, value)
    return [value]


def _scopes(run: Run, items: Sequence[Any], name: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each item with variables of its own, which are those of the run."""
    outer = run.variables
    cost = ITERATION_STEPS + len(outer) // 8
    for item in items:
        run.spend(cost)
        run.variables = variables = copied(outer)
        variables[name] = item
        yield item, variables


def _restoring(closure: Closure) -> Closure:
    """A closure after which the variables are those before it."""

    def restored(run: Run) -> Any:
        outer = run.variables
        try:
            return closure(run)
        finally:
            run.variables = outer

    return restored
