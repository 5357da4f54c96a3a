"""Filters as closures: `list[index]` and `list[condition]`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

from vivero.core.feel.closures.scope import Closure, Compiler, Scope
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import warn_type
from vivero.core.feel.values import Run, is_number

ItemAt: TypeAlias = "Callable[[list[Any], int | Decimal], Any]"
"""`item_at`, or what another dialect has in its place."""
Items: TypeAlias = Callable[[Run, Any], "list[Any] | None"]
"""The items of what is filtered; None, after a warning, for a value that cannot be filtered."""


def list_items(run: Run, value: Any) -> list[Any] | None:
    if type(value) is not list:
        warn_type(run, "list", value)
        return None
    return value


def item_at(items: list[Any], index: int | Decimal) -> Any:
    """The item at `index`, counted from 1, or from the end if negative. Null if there is no such item."""
    position = index - 1 if index > 0 else len(items) + index
    return items[int(position)] if 0 <= position < len(items) else None


def compile_filter(
    c: Compiler, node: ast.Filter, scope: Scope, items: Items = list_items, at: ItemAt = item_at
) -> Closure:
    base = c.compile_or_null(node.base, scope)
    binding = c.bind()
    before = c.size
    condition = c.compile_or_null(node.condition, Scope(scope, {"item": binding}, binding))
    cost = 1 + c.size - before
    constant: Any = c.constants.get(condition)
    if is_number(constant):
        return _item_filter(base, constant, items, at)
    if isinstance(node.condition, ast.Compare | ast.Between | ast.Conjunction | ast.Disjunction):
        return _condition_filter(base, binding.slot, condition, cost, items)
    index = c.compile_or_null(node.condition, scope) if _may_be_index(node.condition) else None
    return _mixed_filter(base, binding.slot, index, condition, cost, items, at)


def _may_be_index(node: ast.Node) -> bool:
    """True for conditions that may be an index, `xs[n + 1]`. These are evaluated outside the filter's scope first."""
    if isinstance(node, ast.Arithmetic):
        return all(map(_may_be_index, (node.first, *(operand for _, operand in node.rest))))
    if isinstance(node, ast.Path):
        return _may_be_index(node.base)
    if isinstance(node, ast.Negate):
        return _may_be_index(node.operand)
    return isinstance(node, ast.Name | ast.Literal) and node != ast.Name("item")


def _item_filter(base: Closure, index: int | Decimal, items_of: Items, at: ItemAt) -> Closure:
    def item_filter(run: Run) -> Any:
        items = items_of(run, base(run))
        return None if items is None else at(items, index)

    return item_filter


def _condition_filter(base: Closure, slot: int, condition: Closure, cost: int, items_of: Items) -> Closure:
    def condition_filter(run: Run) -> Any:
        items = items_of(run, base(run))
        return None if items is None else _matching_items(run, items, slot, condition, cost)

    return condition_filter


def _matching_items(run: Run, items: list[Any], slot: int, condition: Closure, cost: int) -> list[Any]:
    run.spend(len(items) * cost)
    slots = run.slots
    kept = []
    for item in items:
        slots[slot] = item
        if condition(run) is True:
            kept.append(item)
    return kept


def _mixed_filter(
    base: Closure, slot: int, index: Closure | None, condition: Closure, cost: int, items_of: Items, at: ItemAt
) -> Closure:
    """A filter whose condition may be an index: its value for the first item decides."""

    def mixed_filter(run: Run) -> Any:
        items = items_of(run, base(run))
        if items is None:
            return None
        first: Any = _possible_index(run, index) if index is not None else None
        if not is_number(first) and items:
            run.spend(cost)
            run.slots[slot] = items[0]
            first = condition(run)
        if is_number(first):
            return at(items, first)
        kept = items[:1] if first is True else []
        return kept + _matching_items(run, items[1:], slot, condition, cost)

    return mixed_filter


def _possible_index(run: Run, closure: Closure) -> Any:
    """The value of a possible index. If it is not a number, its warnings are dropped."""
    before = len(run.warnings)
    value = closure(run)
    if not is_number(value):
        del run.warnings[before:]
    return value
