"""Arithmetic, comparison, `and`, `or`, `if` as closures, with fast paths for whole numbers and constants."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from vivero.core.feel import arithmetic
from vivero.core.feel.arithmetic import EXACT_INTEGER_BOUND
from vivero.core.feel.closures.scope import Closure, Compiler, Scope
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import are_ordered, checked_equal, warn_not_comparable, warn_type
from vivero.core.feel.values import Run

Operator: TypeAlias = Callable[[Run, Any, Any], Any]
Comparison: TypeAlias = "Callable[[Run, Callable[[Any, Any], bool], Any, Any], bool | None]"
"""`compare`, or what another dialect has in its place."""
_NESTED = 8  # the most operators in a row that become nested closures

ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compile_arithmetic(
    c: Compiler, node: ast.Arithmetic, scope: Scope, operators: Mapping[str, Operator] = arithmetic.OPERATORS
) -> Closure:
    first = c.compile_or_null(node.first, scope)
    rest = [(sign, c.compile_or_null(operand, scope)) for sign, operand in node.rest]
    constant = c.is_constant(first, *(operand for _, operand in rest))
    closure = first
    for sign, operand in rest[:_NESTED]:
        closure = _BINARY.get(sign, _other)(closure, operand, operators[sign])
    if len(rest) > _NESTED:
        closure = _chain(closure, tuple((operators[sign], operand) for sign, operand in rest[_NESTED:]))
    return c.fold(closure) if constant else closure


def _sum(left: Closure, right: Closure, slow: Operator) -> Closure:
    def add(run: Run) -> Any:
        a = left(run)
        b = right(run)
        if type(a) is int and type(b) is int:
            result = a + b
            if -EXACT_INTEGER_BOUND < result < EXACT_INTEGER_BOUND:
                return result
        return slow(run, a, b)

    return add


def _difference(left: Closure, right: Closure, slow: Operator) -> Closure:
    def subtract(run: Run) -> Any:
        a = left(run)
        b = right(run)
        if type(a) is int and type(b) is int:
            result = a - b
            if -EXACT_INTEGER_BOUND < result < EXACT_INTEGER_BOUND:
                return result
        return slow(run, a, b)

    return subtract


def _product(left: Closure, right: Closure, slow: Operator) -> Closure:
    def multiply(run: Run) -> Any:
        a = left(run)
        b = right(run)
        if type(a) is int and type(b) is int:
            result = a * b
            if -EXACT_INTEGER_BOUND < result < EXACT_INTEGER_BOUND:
                return result
        return slow(run, a, b)

    return multiply


def _other(left: Closure, right: Closure, slow: Operator) -> Closure:
    return lambda run: slow(run, left(run), right(run))


_BINARY = {"+": _sum, "-": _difference, "*": _product}


def _chain(first: Closure, rest: tuple[tuple[Operator, Closure], ...]) -> Closure:
    """Many operators in a row as one closure, so that the depth of Python calls does not grow with them."""

    def chain(run: Run) -> Any:
        result = first(run)
        for operate, operand in rest:
            result = operate(run, result, operand(run))
        return result

    return chain


def compile_negate(c: Compiler, node: ast.Negate, scope: Scope) -> Closure:
    operand = c.compile_or_null(node.operand, scope)

    def negate(run: Run) -> Any:
        return arithmetic.negate(run, operand(run))

    return c.fold(negate) if c.is_constant(operand) else negate


def compile_compare(c: Compiler, node: ast.Compare, scope: Scope, comparison: Comparison | None = None) -> Closure:
    left = c.compile(node.left, scope)
    right = c.compile(node.right, scope)
    if node.operator == "=":
        closure = _equals(left, right, c.constants.get(right))
    elif node.operator == "!=":
        closure = _differs(left, right)
    else:
        closure = _ordered(left, right, ORDERS[node.operator], c.constants.get(right), comparison or compare)
    return c.fold(closure) if c.is_constant(left, right) else closure


def _equals(left: Closure, right: Closure, constant: Any) -> Closure:
    def equals(run: Run) -> Any:
        return checked_equal(run, left(run), right(run))

    def equals_constant(run: Run) -> Any:
        a = left(run)
        if type(a) is kind:
            return a == constant
        return checked_equal(run, a, constant)

    kind = type(constant)
    return equals_constant if kind is int or kind is str or kind is bool else equals


def _differs(left: Closure, right: Closure) -> Closure:
    def differs(run: Run) -> Any:
        result = checked_equal(run, left(run), right(run))
        return None if result is None else not result

    return differs


def _ordered(
    left: Closure, right: Closure, order: Callable[[Any, Any], bool], constant: Any, comparison: Comparison
) -> Closure:
    def ordered(run: Run) -> Any:
        a = left(run)
        b = right(run)
        if type(a) is int and type(b) is int:
            return order(a, b)
        return comparison(run, order, a, b)

    def ordered_constant(run: Run) -> Any:
        a = left(run)
        if type(a) is int:
            return order(a, constant)
        return comparison(run, order, a, constant)

    return ordered_constant if type(constant) is int else ordered


def compare(run: Run, order: Callable[[Any, Any], bool], a: Any, b: Any) -> bool | None:
    """`a < b`, `a <= b` and so on. If the types have no order, warns and gives null."""
    if are_ordered(a, b):
        return order(a, b)
    warn_not_comparable(run, a, b)
    return None


def compare_with(sign: str, run: Run, a: Any, b: Any) -> bool | None:
    """`a sign b` for each of the six comparison operators."""
    if sign in ORDERS:
        return compare(run, ORDERS[sign], a, b)
    result = checked_equal(run, a, b)
    return result if sign == "=" or result is None else not result


def compile_between(c: Compiler, node: ast.Between, scope: Scope, comparison: Comparison | None = None) -> Closure:
    compared = comparison or compare
    value = c.compile(node.value, scope)
    low = c.compile(node.low, scope)
    high = c.compile(node.high, scope)

    def between(run: Run) -> Any:
        a = value(run)
        above = compared(run, operator.ge, a, low(run))
        if above is False:
            return False
        below = compared(run, operator.le, a, high(run))
        return False if below is False else (above and below)

    return c.fold(between) if c.is_constant(value, low, high) else between


def compile_all(c: Compiler, node: ast.Conjunction, scope: Scope) -> Closure:
    """`and`: false if an operand is false; otherwise null if an operand is not a boolean."""
    operands = tuple(c.compile_or_null(operand, scope) for operand in node.operands)

    def conjunction(run: Run) -> Any:
        result: bool | None = True
        for operand in operands:
            value = operand(run)
            if value is False:
                return False
            if value is not True and result is True:
                warn_type(run, "boolean", value)
                result = None
        return result

    def conjunction_of_two(run: Run) -> Any:
        a = first(run)
        if a is False:
            return False
        if a is not True:
            return conjunction_after(run, a)
        b = second(run)
        if b is not True and b is not False:
            warn_type(run, "boolean", b)
            return None
        return b

    def conjunction_after(run: Run, a: Any) -> Any:
        warn_type(run, "boolean", a)
        return False if second(run) is False else None

    if len(operands) != 2:
        return conjunction
    first, second = operands
    return conjunction_of_two


def compile_any(c: Compiler, node: ast.Disjunction, scope: Scope) -> Closure:
    """`or`: true if an operand is true; otherwise null if an operand is not a boolean."""
    operands = tuple(c.compile_or_null(operand, scope) for operand in node.operands)

    def disjunction(run: Run) -> Any:
        result: bool | None = False
        for operand in operands:
            value = operand(run)
            if value is True:
                return True
            if value is not False and result is False:
                warn_type(run, "boolean", value)
                result = None
        return result

    return disjunction


def compile_if(c: Compiler, node: ast.If, scope: Scope) -> Closure:
    condition = c.compile_or_null(node.condition, scope)
    then = c.compile(node.then, scope)
    otherwise = c.compile(node.otherwise, scope)

    def choose(run: Run) -> Any:
        value = condition(run)
        if value is True:
            return then(run)
        if value is not False:
            warn_type(run, "boolean", value)
        return otherwise(run)

    return choose
