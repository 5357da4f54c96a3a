"""Built-in functions on numbers (DMN 1.5, 10.3.4.5)."""

from __future__ import annotations

import decimal
import math
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from vivero.core.feel import temporal
from vivero.core.feel.arithmetic import from_float
from vivero.core.feel.builtins.arguments import number, whole
from vivero.core.feel.values import FunctionFailure, IllegalArguments, Overload, Run, is_number

MIN_SCALE, MAX_SCALE = -6111, 6176  # DMN 1.5, table 79: the exponents of an IEEE 754 decimal128

_DIGITS = 34
_EXACT = decimal.Context(prec=2 * _DIGITS, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
_ROUNDING_MODES = {
    "UP": decimal.ROUND_UP,
    "DOWN": decimal.ROUND_DOWN,
    "CEILING": decimal.ROUND_CEILING,
    "FLOOR": decimal.ROUND_FLOOR,
    "HALF_UP": decimal.ROUND_HALF_UP,
    "HALF_DOWN": decimal.ROUND_HALF_DOWN,
    "HALF_EVEN": decimal.ROUND_HALF_EVEN,
    "UNNECESSARY": None,
}


def rounded(value: int | Decimal, scale: int, mode: str) -> int | Decimal:
    """The number with `scale` digits after the decimal point, padded with zeros if 34 digits suffice.

    A negative scale rounds before the decimal point. Raises FunctionFailure for a scale out of range, and if the mode
    is UNNECESSARY and the number needs rounding.
    """
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise FunctionFailure(f"The scale must be between {MIN_SCALE} and {MAX_SCALE} but was '{scale}'")
    if scale == 0 and type(value) is int:
        return value
    exact = Decimal(value)
    if exact.adjusted() + 1 + scale > _DIGITS:
        return value
    result = exact.quantize(Decimal((0, (1,), -scale)), _ROUNDING_MODES[mode] or decimal.ROUND_DOWN, _EXACT)
    if mode == "UNNECESSARY" and result != exact:
        raise FunctionFailure(f"Failed to apply rounding mode '{mode}': Rounding necessary")
    return int(result) if scale <= 0 and result.adjusted() < _DIGITS else result


def _rounding(mode: str) -> Callable[[Run, Any, Any], Any]:
    def round_to_scale(run: Run, n: Any, scale: Any) -> Any:
        run.spend(15)
        return rounded(number(n), whole(scale), mode)

    return round_to_scale


def _whole_rounding(mode: str) -> Callable[[Run, Any], Any]:
    def round_to_whole(run: Run, n: Any) -> Any:
        run.spend(15)
        return rounded(number(n), 0, mode)

    return round_to_whole


def decimal_with_mode(run: Run, n: Any, scale: Any, mode: Any) -> Any:
    run.spend(15)
    number(n), whole(scale)
    if type(mode) is not str:
        raise IllegalArguments
    if mode.upper() not in _ROUNDING_MODES:
        modes = ", ".join(_ROUNDING_MODES)
        raise FunctionFailure(f"Illegal argument '{mode[:100]}' for rounding mode. Must be one of: {modes}")
    return rounded(number(n), whole(scale), mode.upper())


def abs_(run: Run, n: Any) -> Any:
    """The absolute value of a number or a duration."""
    if is_number(n):
        return abs(n) if type(n) is int else n.copy_abs()
    result = temporal.absolute(n)
    if result is None:
        raise IllegalArguments
    return result


def modulo(run: Run, dividend: Any, divisor: Any) -> Any:
    """The remainder with the sign of the divisor: dividend - divisor * floor(dividend / divisor)."""
    dividend, divisor = number(dividend), number(divisor)
    if divisor == 0:
        raise FunctionFailure("Division by zero")
    if type(dividend) is int and type(divisor) is int:
        return dividend % divisor
    run.spend(15)
    try:
        remainder = run.math.remainder(dividend, divisor)
        return run.math.remainder(run.math.add(remainder, divisor), divisor)
    except decimal.InvalidOperation:
        raise FunctionFailure("Division impossible") from None


def _floating(function: Callable[[float], float]) -> Callable[[Run, Any], Any]:
    """A function that uses binary floating point, as in Java. It fails if the result is not a finite number."""

    def call(run: Run, value: Any) -> Any:
        run.spend(20)
        try:
            return from_float(function(float(number(value))))
        except (ValueError, OverflowError):
            raise FunctionFailure(f"The result for '{value}' is not a number") from None

    return call


def sqrt(run: Run, value: Any) -> Any:
    return None if number(value) < 0 else _floating(math.sqrt)(run, value)


def odd(run: Run, value: Any) -> Any:
    return number(value) == int(value) and int(value) % 2 == 1


def even(run: Run, value: Any) -> Any:
    return number(value) == int(value) and int(value) % 2 == 0


def random_number(run: Run) -> Any:
    """A number from 0 up to 1, without 1: one of 2**53 evenly spaced doubles."""
    run.spend(30)
    return from_float((int.from_bytes(os.urandom(7)) >> 3) / 2**53)


_SCALED = ("n", "scale")

FUNCTIONS = {
    "decimal": (
        Overload(_SCALED, _rounding("HALF_EVEN")),
        Overload(("n", "scale", "mode"), decimal_with_mode),
    ),
    "floor": (Overload(("n",), _whole_rounding("FLOOR")), Overload(_SCALED, _rounding("FLOOR"))),
    "ceiling": (Overload(("n",), _whole_rounding("CEILING")), Overload(_SCALED, _rounding("CEILING"))),
    "round up": (Overload(_SCALED, _rounding("UP")),),
    "round down": (Overload(_SCALED, _rounding("DOWN")),),
    "round half up": (Overload(_SCALED, _rounding("HALF_UP")),),
    "round half down": (Overload(_SCALED, _rounding("HALF_DOWN")),),
    "abs": (Overload(("number",), abs_), Overload(("n",), abs_)),
    "modulo": (Overload(("dividend", "divisor"), modulo),),
    "sqrt": (Overload(("number",), sqrt),),
    "log": (Overload(("number",), _floating(math.log)),),
    "exp": (Overload(("number",), _floating(math.exp)),),
    "odd": (Overload(("number",), odd),),
    "even": (Overload(("number",), even),),
    "random number": (Overload((), random_number, pure=False),),
}
