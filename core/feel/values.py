"""FEEL values in Python, the state of an evaluation, and the declaration of built-in functions.

Values
    null        None
    boolean     bool                     (test with `v is True` or `type(v) is bool`: bool is a subclass of int)
    number      int | Decimal            (34 digits, half-even; whole numbers of up to 34 digits are int where that is
                                         cheap; `Decimal('2')` and 2 are equal, and both are valid)
    string      str
    list        list                     (not mutated once it is built)
    context     dict[str, value]         (not mutated once it is built)
    temporals   core.feel.temporal       (Date, Time, DateTime, YearMonthDuration, DayTimeDuration: immutable)
    range       Range
    function    Function | BuiltinFunction

Built-in functions
    The table `core.feel.builtins.FUNCTIONS` maps a name to its overloads: `dict[str, tuple[Overload, ...]]`. An
    overload has parameter names, and an implementation `fn(run, *arguments)` that gets one value for each parameter
    (None for a parameter that a named call omits). With `varargs=True` the last parameter is a list. A positional call
    collects the remaining arguments into it; if it is the only parameter, a call with exactly one list passes that
    list unchanged. A function whose parameter has several names (`from`, `list`) has one overload for each name.

    Implementations check the types of their arguments and raise `IllegalArguments` for arguments that fit no case, or
    `FunctionFailure(message)`. The caller turns both into null and a warning, and likewise an `ArithmeticError`
    (decimal context, overflow). An implementation that returns null with a warning of another type calls
    `run.warn(type, message)`. A failure that ends the whole evaluation is an `EvaluationError`. Work that grows with
    the input calls `run.spend(steps)` first (a step is about 0.1 us of work). Lists and strings whose size the
    expression chooses are checked by `run.check_list(size)` and `run.check_string(size)`.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from vivero.core.feel.errors import FunctionFailure, IllegalArguments, LimitExceeded

__all__ = [
    "DEFAULT_LIMITS",
    "MATH",
    "BuiltinFunction",
    "FeelLimits",
    "Function",
    "FunctionFailure",
    "IllegalArguments",
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
class FeelLimits:
    """Bounds of one expression and one evaluation, so that hostile text costs a bounded amount of time and memory."""

    source_length: int = 20_000  # characters of an expression's text
    nesting_depth: int = 64  # nested expressions, and nested calls at run time
    steps: int = 200_000  # about one for each operation, item and call
    range_size: int = 100_000  # numbers of `a..b` in `for`, `some`, `every`
    list_size: int = 100_000  # items of a list that an expression builds
    string_size: int = 1_000_000  # characters of a string that an expression builds
    exponent: int = 6_144  # decimal exponent of a number, as in IEEE 754 decimal128
    regex_timeout_ms: int = 20  # for each call that uses a regular expression
    output_size: int = 4_000_000  # characters of JSON that to_json writes
    warnings: int = 100  # warnings of one evaluation; later ones are dropped
    message_size: int = 1_000  # characters of a value in a message; longer texts end in …
    math: decimal.Context = field(init=False, repr=False, compare=False)  # arithmetic up to `exponent`

    def __post_init__(self) -> None:
        object.__setattr__(self, "math", math_context(self.exponent))


DEFAULT_LIMITS = FeelLimits()
MATH = DEFAULT_LIMITS.math


PROBLEM_STEPS = 10  # the cost of a warning, in addition to that of the operation


class Warning(NamedTuple):
    """A problem that gave null and did not end the evaluation."""

    type: str
    message: str


class Run(msgspec.Struct):
    """The state of one evaluation: variables, local variables, remaining budget, warnings so far.

    Local variables (of loops, filters, functions, contexts) live in `slots`, at indexes that the compiler assigns. This
    is a Struct because each evaluation creates one, and a Python `__init__` takes several times as long.
    """

    variables: Mapping[str, Any]
    now_ms: int | None = None  # epoch milliseconds, UTC; None: now() and today() give null
    limits: FeelLimits = DEFAULT_LIMITS
    steps: int = DEFAULT_LIMITS.steps  # remaining
    slots: list[Any] = []
    warnings: list[Warning] = []
    depth: int = 0  # nested calls of functions
    input_read: bool = False  # whether `?` was read, see closures/unary.py
    searched_ns: int = 0  # time of regular expressions for which no steps are spent yet

    def may_warn(self) -> bool:
        """Spend the steps for a problem. False if the evaluation has as many warnings as it keeps."""
        self.spend(PROBLEM_STEPS)
        return len(self.warnings) < self.limits.warnings

    @property
    def math(self) -> decimal.Context:
        """The decimal context of this evaluation: `run.math.divide(a, b)` takes ints and Decimals."""
        return self.limits.math

    def warn(self, type: str, message: str) -> None:
        if len(self.warnings) < self.limits.warnings:
            self.warnings.append(Warning(type, message))

    def spend(self, steps: int) -> None:
        """Take `steps` off the budget. Raises LimitExceeded if it is overdrawn."""
        self.steps -= steps
        if self.steps < 0:
            raise LimitExceeded("steps", f"The evaluation takes more than the limit of {self.limits.steps} steps")

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
    """An interval between two comparable values of one type. A missing end is None."""

    start: Any
    end: Any
    start_included: bool = True
    end_included: bool = True


class Function:
    """A function that the expression defines. `call(run, arguments)` takes one argument for each parameter."""

    __slots__ = ("call", "parameters")

    def __init__(self, parameters: tuple[str, ...], call: Callable[[Run, Sequence[Any]], Any]) -> None:
        self.parameters = parameters
        self.call = call


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a built-in function. `pure`: equal arguments give equal results, so constant calls fold."""

    parameters: tuple[str, ...]
    fn: Callable[..., Any]
    varargs: bool = False
    pure: bool = True


@dataclass(frozen=True, slots=True)
class BuiltinFunction:
    """A built-in function as a value, as `f` in `sort(list, precedes: f)` if `f` is bound to a built-in."""

    name: str
    overloads: tuple[Overload, ...] = field(repr=False)


def is_number(value: Any) -> bool:
    """True for int and Decimal, not for bool."""
    kind = type(value)
    return kind is int or kind is Decimal
