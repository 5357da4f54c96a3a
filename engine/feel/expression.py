"""Compiled expressions and unary tests: compile once, evaluate often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from vivero.engine.feel.ast import Name, Path
from vivero.engine.feel.closures import Compiled, compile_tree
from vivero.engine.feel.errors import EvaluationError, LimitExceeded, ParseError
from vivero.engine.feel.parser import parse_expression, parse_unary_tests
from vivero.engine.feel.values import ASSERT_FAILURE, DEFAULT_LIMITS, Limits, Run, Warning

_NONE: Mapping[str, Any] = {}
_new = tuple.__new__  # half the time of a NamedTuple's own __new__


class Evaluation(NamedTuple):
    """What an evaluation gave: a value, and the problems that became null on the way."""

    value: Any
    warnings: list[Warning]


class Expression:
    """A compiled expression.

    `text` is what it was compiled from, `variables` the names of the variables that it may read. `is_static` says that
    it gives `static_value` whatever the variables are, and warns of nothing.
    """

    __slots__ = ("_closure", "_limits", "_slots", "is_static", "static_value", "text", "variables")

    def __init__(self, text: str, compiled: Compiled, limits: Limits) -> None:
        self.text = text
        self.variables = compiled.variables
        self._closure = compiled.closure
        self._slots = compiled.slots
        self._limits = limits
        self.is_static = compiled.is_constant
        self.static_value = compiled.closure(Run(_NONE)) if compiled.is_constant else None

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def evaluate(self, variables: Mapping[str, Any] = _NONE, now: int | None = None) -> Evaluation:
        """The value with these variables. `now`: epoch milliseconds, for `now()` and `today()`.

        `variables` is only asked for single names. Raises EvaluationError.
        """
        return self.measure(variables, now, self._limits.steps)[0]

    def measure(self, variables: Mapping[str, Any], now: int | None, left: int) -> tuple[Evaluation, int]:
        """Like `evaluate`, with the steps that it took. It may take `left`, if that is less than its limit."""
        limits = self._limits
        budget = min(limits.steps, left)
        run = Run(variables, now, limits, budget, [None] * self._slots)
        try:
            return _new(Evaluation, (self._closure(run), run.warnings)), budget - run.steps
        except EvaluationError as error:
            located = _located(_short(error, budget) if budget < limits.steps else error, self.text)
        except RecursionError:
            located = _too_deep(limits)
        located.steps = min(budget - run.steps, budget)
        raise located


def named_variable(expression: Expression) -> str | None:
    """The variable that the expression is nothing but the name of: `x` of `x`, and of `x.y.z`. None of all others."""
    tree = parse_expression(expression.text)
    if isinstance(tree, Path):
        tree = tree.base
    return tree.name if isinstance(tree, Name) else None


class UnaryTests:
    """Compiled unary tests, as in an input entry of a decision table. Attributes as of Expression."""

    __slots__ = ("_closure", "_limits", "_slots", "text", "variables")

    def __init__(self, text: str, compiled: Compiled, limits: Limits) -> None:
        self.text = text
        self.variables = compiled.variables
        self._closure = compiled.closure
        self._slots = compiled.slots
        self._limits = limits

    def __repr__(self) -> str:
        return f"UnaryTests({self.text!r})"

    def evaluate(self, value: Any, variables: Mapping[str, Any] = _NONE, now: int | None = None) -> Evaluation:
        """True, false or null: does `value` pass? Raises EvaluationError."""
        limits = self._limits
        run = Run(variables, now, limits, limits.steps, [None] * self._slots)
        run.slots[0] = value
        try:
            return _new(Evaluation, (self._closure(run), run.warnings))
        except EvaluationError as error:
            raise _located(error, self.text) from None
        except RecursionError:
            raise _too_deep(self._limits) from None


def _located(error: EvaluationError, text: str) -> EvaluationError:
    """An assertion's message names the expression, as in Camunda."""
    if error.type != ASSERT_FAILURE:
        return error
    return EvaluationError(f"Assertion failure on evaluate the expression '{text}': {error}", error.type)


def _short(error: EvaluationError, budget: int) -> EvaluationError:
    """Of an evaluation that had less than its limit: those before it had the rest."""
    if isinstance(error, LimitExceeded) and error.limit == "steps":
        return LimitExceeded(
            "steps", f"The evaluation takes more than the {budget} steps that those before it have left"
        )
    return error


def _too_deep(limits: Limits) -> LimitExceeded:
    return LimitExceeded("nesting_depth", f"The evaluation nests deeper than {limits.nesting_depth} levels allow")


def compile_expression(text: str, names: Iterable[str] = (), limits: Limits = DEFAULT_LIMITS) -> Expression:
    """Compiles an expression. Raises ParseError.

    With `names`, these and the names that the expression itself introduces may contain spaces and signs.
    """
    try:
        tree = parse_expression(text, frozenset(names), limits)
        return Expression(text, compile_tree(tree, limits), limits)
    except RecursionError:
        raise _too_deep_to_parse(limits) from None


def compile_unary_tests(text: str, names: Iterable[str] = (), limits: Limits = DEFAULT_LIMITS) -> UnaryTests:
    """Compiles unary tests, for example `< 10, [20..30], not in stock`. Raises ParseError."""
    try:
        tree = parse_unary_tests(text, frozenset(names), limits)
        return UnaryTests(text, compile_tree(tree, limits, unary_tests=True), limits)
    except RecursionError:
        raise _too_deep_to_parse(limits) from None


def _too_deep_to_parse(limits: Limits) -> ParseError:
    expected = f"at most {limits.nesting_depth} nested expressions"
    return ParseError(f"line 1, column 1: expected {expected}", 1, 1, expected)
