"""Built-in functions that reduce a list to one value (DMN 1.5, 10.3.4.4): sums, extremes, statistics, connectives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from vivero.core.feel.arithmetic import EXACT_INTEGER_BOUND, from_float
from vivero.core.feel.builtins.arguments import items
from vivero.core.feel.semantics import are_ordered, message_text
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Run, is_number

Number = int | Decimal
_NUMBER_TYPES = frozenset({int, Decimal})
_WHOLE = frozenset({int})


def count(run: Run, of: Any) -> Any:
    if type(of) is not list:
        raise IllegalArguments
    return len(of)


def _extreme(choose: Callable[[Any], Any]) -> Callable[[Run, Any], Any]:
    """The least or greatest item; null for an empty list and for items that do not compare."""

    def extreme(run: Run, of: Any) -> Any:
        values = items(run, of)
        if not values or not all(are_ordered(values[0], value) for value in values):
            return None
        return choose(values)

    return extreme


def _numbers(run: Run, of: Any) -> list[Number]:
    """The list. Raises FunctionFailure if an item is not a number."""
    values = items(run, of)
    if not _NUMBER_TYPES.issuperset(map(type, values)):
        other = next(value for value in values if not is_number(value))
        raise FunctionFailure(f"expected number but found '{message_text(run, other)}'")
    return values


def _of_numbers(compute: Callable[[Run, list[Number]], Any]) -> Callable[[Run, Any], Any]:
    """An aggregate that gives null for an empty list, and fails for a list with other items than numbers."""

    def aggregate(run: Run, of: Any) -> Any:
        values = _numbers(run, of)
        return compute(run, values) if values else None

    return aggregate


def _sum(run: Run, values: list[Number]) -> Number:
    if _WHOLE.issuperset(map(type, values)):
        total = sum(values)
        if -EXACT_INTEGER_BOUND < total < EXACT_INTEGER_BOUND:
            return total
    return reduce(run.math.add, values)


def _product(run: Run, values: list[Number]) -> Number:
    return reduce(run.math.multiply, values)


def _quotient(run: Run, dividend: Number, divisor: int) -> Number:
    if type(dividend) is int and dividend % divisor == 0:
        return dividend // divisor
    return run.math.divide(dividend, divisor)


def _mean(run: Run, values: list[Number]) -> Number:
    return _quotient(run, _sum(run, values), len(values))


def _median(run: Run, values: list[Number]) -> Number:
    values = sorted(values)
    middle = len(values) // 2
    if len(values) % 2:
        return values[middle]
    return _quotient(run, run.math.add(values[middle - 1], values[middle]), 2)


def _stddev(run: Run, values: list[Number]) -> Number:
    """The standard deviation of a sample (divided by n - 1). Its square root uses binary floating point, as in Java."""
    if len(values) == 1:
        raise FunctionFailure("a standard deviation needs two numbers or more")
    run.spend(10 * len(values) + 40)
    mean = run.math.divide(_sum(run, values), len(values))
    differences = [run.math.subtract(value, mean) for value in values]
    squares = _sum(run, [run.math.multiply(d, d) for d in differences])
    return from_float(math.sqrt(float(run.math.divide(squares, len(values) - 1))))


def mode(run: Run, of: Any) -> Any:
    """The most frequent numbers, in ascending order. An empty list gives an empty list."""
    run.spend(30)
    counts = Counter(_numbers(run, of))
    most = max(counts.values(), default=0)
    return sorted(value for value, times in counts.items() if times == most)


def _connective(decisive: bool) -> Callable[[Run, Any], Any]:
    """Three-valued `and` (`decisive` is false) or `or` (`decisive` is true) of all items of a list."""

    def connect(run: Run, of: Any) -> Any:
        values = items(run, of)
        if any(value is decisive for value in values):
            return decisive
        return (not decisive) if all(type(value) is bool for value in values) else None

    return connect


def _varargs(fn: Callable[[Run, Any], Any]) -> tuple[Overload, ...]:
    """The overloads of a function that takes one list, or the items as arguments."""
    return (Overload(("list",), fn, varargs=True),)


_all, _any = _connective(False), _connective(True)

FUNCTIONS = {
    "count": (Overload(("list",), count),),
    "min": _varargs(_extreme(min)),
    "max": _varargs(_extreme(max)),
    "sum": _varargs(_of_numbers(_sum)),
    "product": _varargs(_of_numbers(_product)),
    "mean": _varargs(_of_numbers(_mean)),
    "median": _varargs(_of_numbers(_median)),
    "stddev": _varargs(_of_numbers(_stddev)),
    "mode": _varargs(mode),
    "and": _varargs(_all),
    "all": _varargs(_all),
    "or": _varargs(_any),
    "any": _varargs(_any),
}
