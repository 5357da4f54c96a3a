"""What FEEL values are in Python, what an evaluation carries along, and how a built-in function is declared.

Values
    null        None
    boolean     bool                     (test with `v is True` or `type(v) is bool`: bool is a subclass of int)
    number      int | Decimal            (34 digits, half-even; whole numbers of up to 34 digits are int wherever that
                                         is cheap; `Decimal('2')` and 2 are equal and both are fine)
    string      str
    list        list                     (never mutated after it was built)
    context     dict[str, value]         (never mutated after it was built)
    temporals   engine.feel.temporal     (Date, Time, DateTime, YearMonthDuration, DayTimeDuration: immutable)
    range       Range
    function    Function | BuiltinFunction

Built-in functions
    The table `engine.feel.builtins.FUNCTIONS` maps a name to its overloads: `dict[str, tuple[Overload, ...]]`. An
    overload has parameter names, and an implementation `fn(run, *arguments)` which gets one value for each parameter
    (None for one that a named call leaves out). With `varargs=True` the last parameter is a list: a positional call
    collects what is left into it; where it is the only parameter, a call with exactly one list passes that list as it
    is. A function whose parameter has several names (`from`, `list`) has one overload for each spelling.

    Implementations check the types of their arguments themselves and `raise IllegalArguments` for what fits no case,
    or `FunctionFailure(message)` with a message of their own; the caller turns both into null and a warning, and
    likewise an `ArithmeticError` (decimal context, overflow). To give null *with* a warning but no failure:
    `run.warn(type, message)`; `return None`. A failure that ends the whole evaluation is an `EvaluationError`.
    Work that grows with the input calls `run.spend(steps)` beforehand (a step is about 0.1 us of work); lists and
    strings whose size the expression chooses are checked by `run.check_list(size)` and `run.check_string(size)`.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from vivero.engine.feel.errors import FunctionFailure, IllegalArguments, LimitExceeded

__all__ = [
    "DEFAULT_LIMITS",
    "MATH",
    "BuiltinFunction",
    "Function",
    "FunctionFailure",
    "IllegalArguments",
    "Limits",
    "Overload",
    "Range",
    "Run",
    "Warning",
    "is_number",
    "math_context",
]

NO_VARIABLE_FOUND = "NO_VARIABLE_FOUND"
NO_CONTEXT_ENTRY_FOUND = "NO_CONTEXT_ENTRY_FOUND"
NO_PROPERTY_FOUND = "NO_PROPERTY_FOUND"
NOT_COMPARABLE = "NOT_COMPARABLE"
INVALID_TYPE = "INVALID_TYPE"
NO_FUNCTION_FOUND = "NO_FUNCTION_FOUND"
FUNCTION_INVOCATION_FAILURE = "FUNCTION_INVOCATION_FAILURE"
ASSERT_FAILURE = "ASSERT_FAILURE"
UNKNOWN = "UNKNOWN"


@lru_cache(maxsize=16)
def math_context(exponent: int) -> decimal.Context:
    """The arithmetic of FEEL numbers: 34 digits, half-even (DMN 1.5, 10.3.2.3.1), exponents up to `exponent`."""
    return decimal.Context(
        prec=34,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=-exponent,
        Emax=exponent,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one expression and one evaluation: hostile text costs a bounded amount of time and memory."""

    source_length: int = 20_000  # characters of an expression's text
    nesting_depth: int = 64  # expressions within expressions, also calls within calls at run time
    steps: int = 200_000  # about one for each operation carried out, item touched, call made
    range_size: int = 100_000  # numbers that `a..b` may stand for in `for`, `some`, `every`
    list_size: int = 100_000  # items of a list that an expression builds
    string_size: int = 1_000_000  # characters of a string that an expression builds
    exponent: int = 6_144  # decimal exponent of a number, as in IEEE 754 decimal128
    regex_timeout_ms: int = 20  # for each regular expression, per call
    output_size: int = 4_000_000  # characters of JSON that to_json writes
    warnings: int = 100  # warnings kept of one evaluation; later ones are dropped
    message_size: int = 1_000  # characters of a value inside a message, longer ones end in …
    math: decimal.Context = field(init=False, repr=False, compare=False)  # arithmetic up to `exponent`

    def __post_init__(self) -> None:
        object.__setattr__(self, "math", math_context(self.exponent))


DEFAULT_LIMITS = Limits()
MATH = DEFAULT_LIMITS.math


PROBLEM_STEPS = 10  # what the way to a warning costs, besides the operation that has the problem


class Warning(NamedTuple):
    """A problem that an evaluation went on from, with null."""

    type: str
    message: str


class Run(msgspec.Struct):
    """What one evaluation carries along: the variables, the local ones, the budget that is left, the warnings so far.

    Local variables (of loops, filters, functions, contexts) live in `slots`; the compiler gave each its index.
    A Struct, because one is made for each evaluation and that is several times cheaper than with a Python `__init__`.
    """

    variables: Mapping[str, Any]
    now_ms: int | None = None  # epoch milliseconds, UTC; None: now() and today() give null
    limits: Limits = DEFAULT_LIMITS
    steps: int = DEFAULT_LIMITS.steps  # left
    slots: list[Any] = []
    warnings: list[Warning] = []
    depth: int = 0  # calls of functions within functions
    asked: bool = False  # `?` was read, see closures/unary.py
    searched_ns: int = 0  # what regular expressions took and no steps were taken for yet

    def wants_warning(self) -> bool:
        """To be asked where there is a problem: takes steps for it. False where enough warnings are kept."""
        self.spend(PROBLEM_STEPS)
        return len(self.warnings) < self.limits.warnings

    @property
    def math(self) -> decimal.Context:
        """Decimal arithmetic of this evaluation: `run.math.divide(a, b)` takes ints and Decimals."""
        return self.limits.math

    def warn(self, type: str, message: str) -> None:
        if len(self.warnings) < self.limits.warnings:
            self.warnings.append(Warning(type, message))

    def spend(self, steps: int) -> None:
        """Takes `steps` off the budget. Raises LimitExceeded when none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitExceeded("steps", f"The evaluation takes more than {self.limits.steps} steps")

    def check_list(self, size: int) -> None:
        if size > self.limits.list_size:
            raise LimitExceeded("list_size", f"A list of {size} items exceeds the limit of {self.limits.list_size}")

    def check_string(self, size: int) -> None:
        if size > self.limits.string_size:
            raise LimitExceeded(
                "string_size", f"A string of {size} characters exceeds the limit of {self.limits.string_size}"
            )


@dataclass(frozen=True, slots=True)
class Range:
    """An interval between two comparable values of one type; None stands for an end that is not there."""

    start: Any
    end: Any
    start_included: bool = True
    end_included: bool = True


class Function:
    """A function that the expression defines. `call(run, arguments)` evaluates it, one argument for each parameter."""

    __slots__ = ("call", "parameters")

    def __init__(self, parameters: tuple[str, ...], call: Callable[[Run, Sequence[Any]], Any]) -> None:
        self.parameters = parameters
        self.call = call


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a built-in function. `pure`: same arguments, same result, so constant calls fold."""

    parameters: tuple[str, ...]
    fn: Callable[..., Any]
    varargs: bool = False
    pure: bool = True


@dataclass(frozen=True, slots=True)
class BuiltinFunction:
    """A built-in function as a value, for example `sort(list, precedes: f)` with f bound to a built-in's name."""

    name: str
    overloads: tuple[Overload, ...] = field(repr=False)


def is_number(value: Any) -> bool:
    """True for int and Decimal, not for bool."""
    kind = type(value)
    return kind is int or kind is Decimal
