"""Operators: durations times fractions, equality and order of times (DMN 1.5, 10.3.2.3 and 10.3.2.15)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vivero.core.feel import arithmetic
from vivero.core.feel.closures import operators
from vivero.core.feel.closures.scope import Closure, Compiler, Scope
from vivero.core.feel.grammar import ast
from vivero.core.feel.semantics import checked_equal
from vivero.core.feel.temporal import DateTime, DayTimeDuration, Time, YearMonthDuration
from vivero.core.feel.temporal.calendar import NANOS_PER_DAY, NANOS_PER_SECOND
from vivero.core.feel.values import Run, is_number

_OF_CLOCKS = (Time, DateTime)


def multiply(run: Run, a: Any, b: Any) -> Any:
    """`a * b`. A duration times a number keeps whole months, or nanoseconds, of the exact product."""
    duration, number = (b, a) if is_number(a) else (a, b)
    if is_number(number) and isinstance(duration, YearMonthDuration | DayTimeDuration):
        try:
            return _scaled(run, duration, number)
        except (ArithmeticError, ValueError):
            pass  # too long: the common rule gives null and warns
    return arithmetic.multiply(run, a, b)


def _scaled(run: Run, duration: YearMonthDuration | DayTimeDuration, number: Any) -> Any:
    if isinstance(duration, YearMonthDuration):
        return YearMonthDuration(int(run.math.multiply(duration.months, number)))
    return DayTimeDuration(int(run.math.multiply(duration.nanos, number)))


OPERATORS = {**arithmetic.OPERATORS, "*": multiply}


def compile_arithmetic(c: Compiler, node: ast.Arithmetic, scope: Scope) -> Closure:
    return operators.compile_arithmetic(c, node, scope, OPERATORS)


def compile_compare(c: Compiler, node: ast.Compare, scope: Scope) -> Closure:
    """A comparison. The fraction of a second does not count for `=` and `!=`, and a faulty operand is null."""
    if node.operator not in ("=", "!="):
        return operators.compile_compare(c, node, scope, compare)
    left, right = c.compile_or_null(node.left, scope), c.compile_or_null(node.right, scope)
    negated = node.operator == "!="

    def equals(run: Run) -> Any:
        result = _equal(run, left(run), right(run))
        return result if result is None or not negated else not result

    return c.fold(equals) if c.is_constant(left, right) else equals


def compile_between(c: Compiler, node: ast.Between, scope: Scope) -> Closure:
    return operators.compile_between(c, node, scope, compare)


def compare(run: Run, order: Callable[[Any, Any], bool], a: Any, b: Any) -> bool | None:
    """`a < b` and so on. A time without an offset has that of the other one (table 54)."""
    if type(a) is type(b) and type(a) in _OF_CLOCKS and a.is_local != b.is_local:
        a, b = (replace(a, offset=b.offset), b) if a.is_local else (a, replace(b, offset=a.offset))
    return operators.compare(run, order, a, b)


def _equal(run: Run, a: Any, b: Any) -> bool | None:
    if type(a) is type(b) and type(a) in _OF_CLOCKS:
        return checked_equal(run, _to_a_second(a), _to_a_second(b))
    return checked_equal(run, a, b)


def _to_a_second(value: Any) -> Any:
    """The value without the fraction of its second. A time that has an offset is that of UTC (10.3.2.3.4)."""
    nanos = value.nanos - value.nanos % NANOS_PER_SECOND
    if isinstance(value, DateTime):
        return DateTime(value.date, nanos, value.offset, value.zone)
    return Time((nanos - (value.offset or 0) * NANOS_PER_SECOND) % NANOS_PER_DAY, None if value.is_local else 0)
