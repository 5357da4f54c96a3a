"""Unary tests, `in` and `?` as closures (DMN 1.5, 10.3.1.2, rules 7 to 15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from vivero.core.feel.closures.access import local
from vivero.core.feel.closures.operators import ORDERS, compare_with
from vivero.core.feel.closures.scope import Closure, Compiler, Scope
from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import are_ordered, checked_equal, contains, in_range, message_text, warn_type
from vivero.core.feel.values import NO_VARIABLE_FOUND, NOT_COMPARABLE, Range, Run

Verdict: TypeAlias = Callable[[Run, Any, Any], "bool | None"]
"""Whether an input passes a unary test, from the input and the value of the test's expression."""
INPUT = "?"
IMPLICIT_INPUT = "cellInput"  # the variable that holds the input in Camunda's engine


def input_scope(c: Compiler, scope: Scope | None) -> tuple[Scope, int]:
    """A scope in which `?` is the input of a unary test, and the slot of that input."""
    binding = c.bind()
    return Scope(scope, {INPUT: binding, IMPLICIT_INPUT: binding}), binding.slot


def _input_slot(scope: Scope | None) -> int | None:
    while scope is not None:
        if INPUT in scope.names:
            return scope.names[INPUT].slot
        scope = scope.parent
    return None


def compile_input(c: Compiler, node: ast.Input, scope: Scope) -> Closure:
    c.reads_input = True
    slot = _input_slot(scope)
    return _free_input if slot is None else _input(slot)


def _input(slot: int) -> Closure:
    def input_(run: Run) -> Any:
        run.input_read = True
        return run.slots[slot]

    return input_


def _free_input(run: Run) -> Any:
    if INPUT in run.variables:
        return run.variables[INPUT]
    raise EvaluationError("No input value available. '?' can only be used inside an unary-test expression.")


def _implicit_input(scope: Scope) -> Closure:
    slot = _input_slot(scope)

    def missing(run: Run) -> Any:
        if IMPLICIT_INPUT in run.variables:
            return run.variables[IMPLICIT_INPUT]
        if run.may_warn():
            run.warn(NO_VARIABLE_FOUND, "No input value found.")
        return None

    return missing if slot is None else local(slot)


def compile_input_test(c: Compiler, node: ast.InputTest, scope: Scope) -> Closure:
    operand = c.compile(node.operand, scope)
    sign = node.operator
    if _input_slot(scope) is None and sign != "!=":
        return _range_of(sign, operand)
    value = _implicit_input(scope)

    def input_test(run: Run) -> Any:
        return compare_with(sign, run, value(run), operand(run))

    constant: Any = c.constants.get(operand)
    if type(constant) is not int or sign not in ORDERS:
        return input_test
    order = ORDERS[sign]

    def test_with_integer(run: Run) -> Any:
        a = value(run)
        return order(a, constant) if type(a) is int else compare_with(sign, run, a, constant)

    return test_with_integer


def _range_of(sign: str, operand: Closure) -> Closure:
    """`(< 10)` without an input is a range that is open on one side, and `(= 10)` one of 10 alone (10.3.2.7)."""

    def range_(run: Run) -> Any:
        end = operand(run)
        if IMPLICIT_INPUT in run.variables:
            return compare_with(sign, run, run.variables[IMPLICIT_INPUT], end)
        if sign == "=":
            return Range(end, end) if are_ordered(end, end) else None
        if sign in ("<", "<="):
            return Range(None, end, False, sign == "<=")
        return Range(end, None, sign == ">=", False)

    return range_


def compile_in_range(c: Compiler, node: ast.InRange, scope: Scope) -> Closure:
    value = _implicit_input(scope)
    start, end = (None if e is None else c.compile(e, scope) for e in (node.range.start, node.range.end))

    def test(run: Run) -> Any:
        low = start(run) if start is not None else None
        high = end(run) if end is not None else None
        a = value(run)
        inside = None
        if (low is None) == (start is None) and (high is None) == (end is None):
            inside = in_range(a, Range(low, high, node.range.start_included, node.range.end_included))
        if inside is None:
            warn_not_in_range(run, a, low, high)
        return inside

    if start is None or end is None or not c.is_constant(start, end):
        return test
    return _between_integers(value, c.constants[start], c.constants[end], node.range, test)


def warn_not_in_range(run: Run, value: Any, low: Any, high: Any) -> None:
    """Warn of a value that cannot be compared with the ends of an interval."""
    if run.may_warn():
        texts = [message_text(run, each) for each in (value, low, high)]
        run.warn(NOT_COMPARABLE, "Can't compare '{}' with '{}' and '{}'".format(*texts))


def _between_integers(value: Closure, low: Any, high: Any, interval: ast.RangeLiteral, otherwise: Closure) -> Closure:
    """A test for a closed interval between two integers, which is frequent in tables."""
    if type(low) is not int or type(high) is not int or not (interval.start_included and interval.end_included):
        return otherwise

    def test(run: Run) -> Any:
        a = value(run)
        return low <= a <= high if type(a) is int else otherwise(run)

    return test


def compile_matches(c: Compiler, node: ast.Matches, scope: Scope, verdict: Verdict | None = None) -> Closure:
    verdict = verdict or matches
    outer, c.reads_input = c.reads_input, False
    expression = c.compile(node.expression, scope)
    inner, c.reads_input = c.reads_input, outer
    value = _implicit_input(scope)

    def test(run: Run) -> Any:
        return verdict(run, value(run), expression(run))

    def test_with_input(run: Run) -> Any:
        """An expression that reads `?` is a condition, and its value is not compared with the input."""
        outer_read, run.input_read = run.input_read, False
        result = expression(run)
        is_condition, run.input_read = run.input_read, outer_read
        if is_condition:
            return result if type(result) is bool else None
        return verdict(run, value(run), result)

    return test_with_input if inner else test


def matches(run: Run, value: Any, result: Any) -> bool | None:
    """True if `result`, the value of a unary test's expression, is true, equals the input or contains it."""
    if result is True:
        return True
    if type(result) is list and contains(run, result, value):
        return True
    if type(result) is Range:
        return in_range(value, result)
    is_equal = checked_equal(run, value, result)
    if is_equal is True or result is False or type(result) is list:
        return is_equal is True
    return is_equal


def compile_any_test(c: Compiler, node: ast.AnyTest, scope: Scope) -> Closure:
    tests = tuple(c.compile_or_null(test, scope) for test in node.tests)

    def any_test(run: Run) -> Any:
        result: bool | None = False
        for test in tests:
            value = test(run)
            if value is True:
                return True
            if value is not False and result is False:
                warn_type(run, "boolean", value)
                result = None
        return result

    return any_test


def compile_not_test(c: Compiler, node: ast.NotTest, scope: Scope) -> Closure:
    test = c.compile_or_null(node.test, scope)

    def not_test(run: Run) -> Any:
        value = test(run)
        if value is True or value is False:
            return not value
        warn_type(run, "boolean", value)
        return None

    return not_test


def compile_in(c: Compiler, node: ast.In, scope: Scope) -> Closure:
    value = c.compile(node.value, scope)
    inner, slot = input_scope(c, scope)
    outer, c.reads_input = c.reads_input, False
    test = c.compile(node.test, inner)
    c.reads_input = outer or (c.reads_input and _input_slot(scope) is None)

    def in_(run: Run) -> Any:
        run.slots[slot] = value(run)
        outer_read = run.input_read
        result = test(run)
        run.input_read = outer_read
        return result

    return in_
