"""Expressions and unary tests, compiled once and evaluated often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from vivero.core.feel.closures import Compiled, compile_tree
from vivero.core.feel.errors import EvaluationError, LimitExceeded
from vivero.core.feel.grammar.ast import Call, Literal, Name, Path
from vivero.core.feel.grammar.parser import parse_expression, parse_unary_tests, too_deep_to_parse
from vivero.core.feel.values import ASSERT_FAILURE, DEFAULT_LIMITS, FeelLimits, Run, Warning

_NONE: Mapping[str, Any] = {}
_LIMITS = tuple(item.name for item in fields(FeelLimits) if item.init)
_new = tuple.__new__  # half the time of a NamedTuple's own __new__


class Evaluation(NamedTuple):
    """The result of an evaluation: the value, and a warning for each problem that became null."""

    value: Any
    warnings: list[Warning]


class Expression:
    """A compiled expression.

    `text` is its source. `variables` are the names of the variables that it may read. If `is_static`, every evaluation
    gives `static_value` without warnings. An expression can be pickled: its copy is compiled when it is first used.
    """

    __slots__ = ("_closure", "_limits", "_names", "_slots", "is_static", "static_value", "text", "variables")

    def __init__(
        self, text: str, compiled: Compiled, limits: FeelLimits, names: frozenset[str] | None = frozenset()
    ) -> None:
        """`names` are those that it was compiled with; None for a constant, whose text is no expression."""
        self.text = text
        self.variables = compiled.variables
        self._closure = compiled.closure
        self._slots = compiled.slots
        self._limits = limits
        self._names = names
        self.is_static = compiled.is_constant
        self.static_value = compiled.closure(Run(_NONE)) if compiled.is_constant else None

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        limits = tuple(getattr(self._limits, name) for name in _LIMITS)
        return _copy, (self.text, self.variables, self.is_static, self.static_value, self._names, limits)

    def evaluate(self, variables: Mapping[str, Any] = _NONE, now: int | None = None) -> Evaluation:
        """The value with these variables. `now`: epoch milliseconds, for `now()` and `today()`.

        The evaluation only looks up single names in `variables`. Raises EvaluationError.
        """
        limits = self._limits
        run = Run(variables, now, limits, limits.steps, [None] * self._slots)
        try:
            return _new(Evaluation, (self._closure(run), run.warnings))
        except EvaluationError as error:
            raise _located(error, self.text) from None
        except RecursionError:
            raise _too_deep(limits) from None

    def evaluate_within(
        self, variables: Mapping[str, Any], now: int | None, remaining_steps: int
    ) -> tuple[Evaluation, int]:
        """Like `evaluate`, with a second limit on the steps. Returns the evaluation and the steps that it took."""
        limits = self._limits
        budget = remaining_steps if remaining_steps < limits.steps else limits.steps
        run = Run(variables, now, limits, budget, [None] * self._slots)
        try:
            return _new(Evaluation, (self._closure(run), run.warnings)), budget - run.steps
        except EvaluationError as error:
            located = _located(_with_budget(error, budget) if budget < limits.steps else error, self.text)
        except RecursionError:
            located = _too_deep(limits)
        located.steps = min(budget - run.steps, budget)
        raise located


@lru_cache(maxsize=16)
def _limits_of(values: tuple[int, ...]) -> FeelLimits:
    return FeelLimits(*values)


def _copy(
    text: str,
    variables: frozenset[str],
    is_static: bool,
    static_value: Any,
    names: frozenset[str] | None,
    limits: tuple[int, ...],
) -> Expression:
    """A pickled expression again. Closures cannot be pickled, so the first evaluation compiles the text."""
    copy = Expression.__new__(Expression)
    copy.text, copy.variables = text, variables
    copy.is_static, copy.static_value = is_static, static_value
    copy._names, copy._limits, copy._slots = names, _limits_of(limits), 0

    def first(run: Run) -> Any:
        tree = Literal(static_value) if names is None else parse_expression(text, names, copy._limits)
        compiled = compile_tree(tree, copy._limits)
        copy._closure, copy._slots = compiled.closure, compiled.slots
        run.slots = [None] * compiled.slots
        return compiled.closure(run)

    copy._closure = first
    return copy


def named_variable(expression: Expression) -> str | None:
    """`x` for the expressions `x` and `x.y.z`, which consist of a variable or a path in it; None for all others."""
    tree = parse_expression(expression.text)
    if isinstance(tree, Path):
        tree = tree.base
    return tree.name if isinstance(tree, Name) else None


class Argument(NamedTuple):
    """An argument of a call in an expression."""

    reference: str | None
    """`x` or `x.y.z`, if it is a variable or a path in one."""
    is_constant: bool
    constant: Any
    """Its value, if it is constant."""

    @property
    def text(self) -> str:
        """The argument for messages."""
        return self.reference or (str(self.constant) if self.is_constant else "an expression")


def calls_of(expression: Expression, function: str, parameters: Sequence[str]) -> list[dict[str, Argument]]:
    """The arguments of each call of a built-in function, by parameter. The expression itself is no constant."""
    found: list[dict[str, Argument]] = []
    pending: list[Any] = [parse_expression(expression.text)]
    while pending:
        each = pending.pop()
        if isinstance(each, Call) and each.base is None and each.name == function:
            found.append({n: _argument(a) for n, a in zip(each.names or parameters, each.arguments, strict=False)})
        if isinstance(each, tuple):
            pending.extend(reversed(each))
    return found


def _argument(tree: Any) -> Argument:
    names: tuple[str, ...] = ()
    if isinstance(tree, Path) and isinstance(tree.base, Name):
        names = (tree.base.name, *tree.keys)
    elif isinstance(tree, Name):
        names = (tree.name,)
    compiled = compile_tree(tree, DEFAULT_LIMITS)
    value = compiled.closure(Run(_NONE)) if compiled.is_constant else None
    return Argument(".".join(names) or None, compiled.is_constant, value)


class UnaryTests:
    """Compiled unary tests, as in an input entry of a decision table. `Expression` describes the attributes."""

    __slots__ = ("_closure", "_limits", "_slots", "text", "variables")

    def __init__(self, text: str, compiled: Compiled, limits: FeelLimits) -> None:
        self.text = text
        self.variables = compiled.variables
        self._closure = compiled.closure
        self._slots = compiled.slots
        self._limits = limits

    def __repr__(self) -> str:
        return f"UnaryTests({self.text!r})"

    def evaluate(self, value: Any, variables: Mapping[str, Any] = _NONE, now: int | None = None) -> Evaluation:
        """True if `value` passes, false if not, null if that is undefined. Raises EvaluationError."""
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
    """Add the expression to the message of a failed assertion, in Camunda's words."""
    if error.type != ASSERT_FAILURE:
        return error
    return EvaluationError(f"Assertion failure on evaluate the expression '{text}': {error}", error.type)


def _with_budget(error: EvaluationError, budget: int) -> EvaluationError:
    """Name the steps that earlier evaluations left in the message, because they and not the limit were exceeded."""
    if isinstance(error, LimitExceeded) and error.limit == "steps":
        message = f"The evaluation takes more than the {budget} steps that earlier evaluations have left"
        return LimitExceeded("steps", message)
    return error


def _too_deep(limits: FeelLimits) -> LimitExceeded:
    return LimitExceeded("nesting_depth", f"The evaluation nests deeper than {limits.nesting_depth} levels allow")


def compile_expression(text: str, names: Iterable[str] = (), limits: FeelLimits = DEFAULT_LIMITS) -> Expression:
    """Compile an expression. Raises ParseError.

    With `names`, these names and those that the expression itself introduces may contain spaces and signs.
    """
    try:
        known = frozenset(names)
        return Expression(text, compile_tree(parse_expression(text, known, limits), limits), limits, known)
    except RecursionError:
        raise too_deep_to_parse(limits) from None


def compile_unary_tests(text: str, names: Iterable[str] = (), limits: FeelLimits = DEFAULT_LIMITS) -> UnaryTests:
    """Compile unary tests, for example `< 10, [20..30], not in stock`. Raises ParseError."""
    try:
        tree = parse_unary_tests(text, frozenset(names), limits)
        return UnaryTests(text, compile_tree(tree, limits, unary_tests=True), limits)
    except RecursionError:
        raise too_deep_to_parse(limits) from None
