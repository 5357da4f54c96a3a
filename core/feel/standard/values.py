"""Names, contexts, ranges and filters: where Camunda's FEEL fails or takes the last value, DMN gives null."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from vivero.core.feel.closures import access, filters, literals
from vivero.core.feel.closures.scope import Closure, Compiler, Scope, ValueFailure
from vivero.core.feel.grammar import ast
from vivero.core.feel.values import INVALID_TYPE, BuiltinFunction, Run


def compile_name(c: Compiler, node: ast.Name, scope: Scope) -> Closure:
    """A variable, or otherwise the built-in function of this name."""
    overloads = c.functions.get(node.name)
    if overloads is None:
        return access.compile_name(c, node, scope)
    name, builtin = node.name, BuiltinFunction(node.name, overloads)
    c.free.add(name)
    return access.resolve(c, name, scope, lambda run: run.variables.get(name, builtin))


def compile_context(c: Compiler, node: ast.ContextLiteral, scope: Scope) -> Closure:
    """A context. Null if two entries have one key (DMN 1.5, 10.3.2.6)."""
    keys = [key for key, _ in node.entries]
    return literals.compile_context(c, node, scope) if len(set(keys)) == len(keys) else c.constant(None)


def compile_range(c: Compiler, node: ast.RangeLiteral, scope: Scope) -> Closure:
    """A range. Null if an end is null, or if the ends have no order."""
    outer, c.may_fail = c.may_fail, False
    closure = literals.compile_range(c, node, scope)
    c.may_fail = outer

    def range_or_null(run: Run) -> Any:
        try:
            return closure(run)
        except ValueFailure:
            return None

    return closure if c.is_constant(closure) else range_or_null


def compile_instance_of(c: Compiler, node: ast.InstanceOf, scope: Scope) -> Closure:
    """`value instance of type`. Null if there is no such type (table 61)."""
    if literals.is_type(node.type, c.types):
        return literals.compile_instance_of(c, node, scope)
    message = f"'{node.type.name}' is not a type, or lacks its parameters"

    def no_type(run: Run) -> None:
        if run.may_warn():
            run.warn(INVALID_TYPE, message)

    return no_type


def compile_filter(c: Compiler, node: ast.Filter, scope: Scope) -> Closure:
    return filters.compile_filter(c, node, scope, _items, item_at)


def item_at(items: list[Any], index: int | Decimal) -> Any:
    """The item at a whole index; null for any other."""
    is_fraction = isinstance(index, Decimal) and index != index.to_integral_value()
    return None if is_fraction else filters.item_at(items, index)


def _items(run: Run, value: Any) -> list[Any] | None:
    """A list, or any other value as a list of one (DMN 1.5, 10.3.2.9.4)."""
    return filters.list_items(run, value) if value is None or type(value) is list else [value]
