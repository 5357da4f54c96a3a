"""Filters as closures: an index, or a condition on each item."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from vivero.engine.feel import ast
from vivero.engine.feel.closures.scope import Closure, Compiler, Scope
from vivero.engine.feel.semantics import warn_type
from vivero.engine.feel.values import Run, is_number


def compile_filter(c: Compiler, node: ast.Filter, scope: Scope) -> Closure:
    base = c.swallow(node.base, scope)
    binding = c.bind()
    before = c.size
    condition = c.swallow(node.condition, Scope(scope, {"item": binding}, binding))
    cost = 1 + c.size - before
    constant: Any = c.constants.get(condition)
    if is_number(constant):
        return _at(base, constant)
    if isinstance(node.condition, ast.Compare | ast.Between | ast.Conjunction | ast.Disjunction):
        return _where(base, binding.slot, condition, cost)
    index = c.swallow(node.condition, scope) if _may_be_index(node.condition) else None
    return _at_or_where(base, binding.slot, index, condition, cost)


def _may_be_index(node: ast.Node) -> bool:
    """True for conditions whose value is read outside of the filter first, as they may be an index: `xs[n + 1]`."""
    if isinstance(node, ast.Arithmetic):
        return all(map(_may_be_index, (node.first, *(operand for _, operand in node.rest))))
    if isinstance(node, ast.Path):
        return _may_be_index(node.base)
    if isinstance(node, ast.Negate):
        return _may_be_index(node.operand)
    return isinstance(node, ast.Name | ast.Literal) and node != ast.Name("item")


def _items(run: Run, value: Any) -> list[Any] | None:
    if type(value) is not list:
        warn_type(run, "list", value)
        return None
    return value


def _at(base: Closure, index: int | Decimal) -> Closure:
    def at(run: Run) -> Any:
        items = _items(run, base(run))
        return None if items is None else item_at(items, index)

    return at


def item_at(items: list[Any], index: int | Decimal) -> Any:
    """The item at `index`, which counts from 1 or, below zero, from the end. Out of range: null."""
    position = index - 1 if index > 0 else len(items) + index
    return items[int(position)] if 0 <= position < len(items) else None


def _where(base: Closure, slot: int, condition: Closure, cost: int) -> Closure:
    def where(run: Run) -> Any:
        items = _items(run, base(run))
        return None if items is None else _keep(run, items, slot, condition, cost)

    return where


def _keep(run: Run, items: list[Any], slot: int, condition: Closure, cost: int) -> list[Any]:
    run.spend(len(items) * cost)
    slots = run.slots
    kept = []
    for item in items:
        slots[slot] = item
        if condition(run) is True:
            kept.append(item)
    return kept


def _at_or_where(base: Closure, slot: int, index: Closure | None, condition: Closure, cost: int) -> Closure:
    """A condition of which only its value tells whether it is an index: that of the first item decides."""

    def at_or_where(run: Run) -> Any:
        items = _items(run, base(run))
        if items is None:
            return None
        first: Any = _quietly(run, index) if index is not None else None
        if not is_number(first) and items:
            run.spend(cost)
            run.slots[slot] = items[0]
            first = condition(run)
        if is_number(first):
            return item_at(items, first)
        kept = items[:1] if first is True else []
        return kept + _keep(run, items[1:], slot, condition, cost)

    return at_or_where


def _quietly(run: Run, closure: Closure) -> Any:
    """The value, without the warnings of an evaluation that only tries."""
    before = len(run.warnings)
    value = closure(run)
    if not is_number(value):
        del run.warnings[before:]
    return value
