"""`+ - * / **` and the sign, for numbers, strings and temporals. Operands that do not fit give null and a warning."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from vivero.core.feel import temporal
from vivero.core.feel.semantics import message_text, warn_type
from vivero.core.feel.values import INVALID_TYPE, BuiltinFunction, Function, Range, Run, is_number

EXACT_INTEGER_BOUND = 10**34  # 34 digits hold every whole number below this exactly

_NOT_TEMPORAL = frozenset({int, Decimal, str, bool, type(None), list, dict, Range, Function, BuiltinFunction})
_FAILURES = (ArithmeticError, ValueError)  # division by zero, out of range, not a number


def add(run: Run, a: Any, b: Any) -> Any:
    """`a + b` of two numbers, two strings, or a temporal and a duration."""
    try:
        if is_number(a) and is_number(b):
            return _int_if_exact(run.limits.math.add(a, b), a, b)
        if type(a) is str and type(b) is str:
            return _join(run, a, b)
        result = _temporal(temporal.add, a, b)
    except _FAILURES:
        result = None
    return _checked(run, result, a, b, "add '{1}' to '{0}'")


def _int_if_exact(result: Decimal, a: Any, b: Any) -> int | Decimal:
    """Keep whole numbers as `int`, the faster type, as long as 34 digits hold them."""
    return int(result) if type(a) is int and type(b) is int and result.adjusted() < 34 else result


def _join(run: Run, a: str, b: str) -> str:
    size = len(a) + len(b)
    if size > 256:
        run.check_string(size)
        run.spend(size >> 6)
    return a + b


def subtract(run: Run, a: Any, b: Any) -> Any:
    """`a - b` of two numbers, two temporals of one kind, or a temporal and a duration."""
    try:
        if is_number(a) and is_number(b):
            return _int_if_exact(run.limits.math.subtract(a, b), a, b)
        result = _temporal(temporal.subtract, a, b)
    except _FAILURES:
        result = None
    return _checked(run, result, a, b, "subtract '{1}' from '{0}'")


def multiply(run: Run, a: Any, b: Any) -> Any:
    """`a * b` of two numbers, or a duration and a number."""
    try:
        if is_number(a) and is_number(b):
            return _int_if_exact(run.limits.math.multiply(a, b), a, b)
        result = _temporal(temporal.multiply, a, b)
    except _FAILURES:
        result = None
    return _checked(run, result, a, b, "multiply '{0}' by '{1}'")


def divide(run: Run, a: Any, b: Any) -> Any:
    """`a / b` of two numbers, a duration and a number, or two durations of one kind."""
    try:
        if is_number(a) and is_number(b):
            if type(a) is int and type(b) is int and b and a % b == 0:
                return a // b
            return run.limits.math.divide(a, b)
        result = _temporal(temporal.divide, a, b)
    except _FAILURES:
        result = None
    return _checked(run, result, a, b, "divide '{0}' by '{1}'")


def power(run: Run, a: Any, b: Any) -> Any:
    """`a ** b`. A whole exponent is exact to 34 digits; any other uses binary floating point, as in Java."""
    if not is_number(a) or not is_number(b):
        warn_type(run, "number", b if is_number(a) else a)
        return None
    try:
        result = _whole_power(run, a, int(b)) if b == int(b) else _fractional_power(a, b)
    except _FAILURES:
        result = None
    return _checked(run, result, a, b, "raise '{0}' to the power of '{1}'")


def _whole_power(run: Run, a: int | Decimal, b: int) -> int | Decimal:
    if b == 0:
        return 1
    if a == 0 and b < 0:
        raise ZeroDivisionError("0 to a negative power")  # the decimal module gives Infinity without a signal
    if type(a) is int and b > 0 and a.bit_length() * b <= 112:
        return a**b  # type: ignore[no-any-return]
    return run.limits.math.power(a, b)


def _fractional_power(a: int | Decimal, b: int | Decimal) -> Decimal | None:
    result = float(a) ** float(b)
    return None if isinstance(result, complex) else from_float(result)


def from_float(number: float) -> Decimal:
    """The decimal with the shortest text that denotes this float. Raises ArithmeticError for NaN and infinities."""
    result = Decimal(repr(number))
    if not result.is_finite():
        raise OverflowError(f"{number} is not finite")
    return result


def negate(run: Run, a: Any) -> Any:
    """`-a` of a number or a duration."""
    if is_number(a):
        return -a if type(a) is int else a.copy_negate()
    result = None if type(a) in _NOT_TEMPORAL else _attempt(temporal.negate, a)
    if result is None:
        warn_type(run, "number", a)
    return result


def _temporal(operate: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """The result if at least one operand is a temporal and the types fit, otherwise None."""
    if type(a) in _NOT_TEMPORAL and type(b) in _NOT_TEMPORAL:
        return None
    return _attempt(operate, a, b)


def _attempt(operate: Callable[..., Any], *operands: Any) -> Any:
    try:
        result = operate(*operands)
    except _FAILURES:
        return None
    return None if result is NotImplemented else result


def _checked(run: Run, result: Any, a: Any, b: Any, message: str) -> Any:
    if result is None and run.may_warn():
        run.warn(INVALID_TYPE, "Can't " + message.format(message_text(run, a), message_text(run, b)))
    return result


OPERATORS: dict[str, Callable[[Run, Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "**": power,
}
