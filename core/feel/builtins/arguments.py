"""Checks of arguments: each function returns the argument as the requested type, or raises IllegalArguments."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from vivero.core.feel.temporal import Date, DateTime, DayTimeDuration
from vivero.core.feel.values import BuiltinFunction, Function, FunctionFailure, IllegalArguments, Run, is_number

_MAX_DIGITS = 40
_MOST: int = 10**_MAX_DIGITS
CHARACTERS_PER_STEP = 64  # a step is about 0.1 us, in which a string function processes this many characters


def string(run: Run, value: Any) -> str:
    """A string. Spends the steps of one pass over it."""
    if type(value) is not str:
        raise IllegalArguments
    if len(value) > CHARACTERS_PER_STEP:
        run.spend(len(value) // CHARACTERS_PER_STEP)
    return value


def number(value: Any) -> int | Decimal:
    if not is_number(value):
        raise IllegalArguments
    return value  # type: ignore[no-any-return]


def whole(value: Any) -> int:
    """A number without its fraction. A number beyond every valid position, scale or count becomes ±10**40."""
    checked = number(value)
    if type(checked) is Decimal and checked.adjusted() > _MAX_DIGITS:
        return _MOST if checked > 0 else -_MOST
    return int(checked)


def items(run: Run, value: Any) -> list[Any]:
    """A list. Spends a step for each item."""
    if type(value) is not list:
        raise IllegalArguments
    run.spend(4 + len(value))
    return value


def context(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise IllegalArguments
    return value


def date_of(value: Any) -> Date:
    """A date, also from a date with time."""
    if isinstance(value, DateTime):
        return value.date
    if not isinstance(value, Date):
        raise IllegalArguments
    return value


def day_time_duration(value: Any) -> DayTimeDuration:
    if not isinstance(value, DayTimeDuration):
        raise IllegalArguments
    return value


def function(value: Any) -> Function | BuiltinFunction:
    if not isinstance(value, Function | BuiltinFunction):
        raise IllegalArguments
    return value


def arities(value: Function | BuiltinFunction) -> tuple[int, ...]:
    """The numbers of arguments that a function takes."""
    if isinstance(value, Function):
        return (len(value.parameters),)
    return tuple(len(overload.parameters) for overload in value.overloads)


def call(run: Run, value: Function | BuiltinFunction, arguments: Sequence[Any]) -> Any:
    """Call a function that is an argument. Null if a built-in fails for these arguments."""
    run.spend(1)
    if isinstance(value, Function):
        return value.call(run, arguments)
    for overload in value.overloads:
        if len(overload.parameters) == len(arguments) and not overload.varargs:
            try:
                return overload.fn(run, *arguments)
            except (FunctionFailure, ArithmeticError):
                return None
    return None
