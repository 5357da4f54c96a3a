"""The place of a text: names that it may use, mode, limits. A scope compiles each text once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.dmn.compiling.types import Coercion, Types, coercion
from vivero.core.dmn.model import CAMUNDA, DMN, External, Text
from vivero.core.feel.closures import CAMUNDA as CAMUNDA_FEEL
from vivero.core.feel.closures import constants
from vivero.core.feel.closures.constants import TEST_STEPS, NotConstant, constant_test, constant_value
from vivero.core.feel.closures.fragments import Names, Test, compile_fragment, compile_test, known_names
from vivero.core.feel.closures.scope import NO_TYPES, Closure
from vivero.core.feel.errors import EvaluationError, LimitExceeded, ParseError
from vivero.core.feel.grammar.lexer import KnownNames
from vivero.core.feel.standard import DMN as DMN_FEEL
from vivero.core.feel.values import FeelLimits, Run

CONSTANT_STEPS = 10_000
"""The steps of values that are evaluated when their file is read."""


def null(run: Run) -> Any:
    """The closure of what is missing or faulty."""
    return None


def failing(message: str) -> Closure:
    """The closure of a text that has a problem: its evaluation fails."""

    def fail(run: Run) -> Any:
        raise EvaluationError(message)

    return fail


_CHECKED = Test(null, 1, 1, None)
"""The test of a text that was compiled and not kept."""


def _literal(value: Any) -> Closure:
    def literal(run: Run) -> Any:
        run.spend(1)
        return value

    return literal


class FileContext:
    """The mode, dialect, types and limits that all scopes of a file share. `keeps`: compiled texts are kept."""

    __slots__ = ("dialect", "effort", "is_camunda", "keeps", "limits", "report", "tests", "types")

    def __init__(self, mode: str, types: Types, report: Report, limits: FeelLimits, keeps: bool = True) -> None:
        self.is_camunda = mode == CAMUNDA
        self.dialect = CAMUNDA_FEEL if self.is_camunda else DMN_FEEL
        self.types, self.report, self.limits, self.keeps = types, report, limits, keeps
        self.effort = types.effort
        self.tests = NO_TYPES if self.is_camunda else types.tests


class TextScope:
    """The names that texts of one place see. Scopes that see the same names share their compiled texts."""

    __slots__ = ("_closures", "_has_constants", "_known", "_names", "_tests", "place")

    def __init__(self, place: FileContext, known: frozenset[str]) -> None:
        """`known`: as of `known_names`."""
        self.place, self._known = place, known
        place.effort.spend_on_names(known)
        self._names = Names(KnownNames(known), place.tests)
        self._closures: dict[str, Closure] = {}
        self._tests: dict[str, Test] = {}
        self._has_constants = constants.is_usable(known)

    @property
    def is_camunda(self) -> bool:
        return self.place.is_camunda

    def with_names(self, names: Iterable[str]) -> TextScope:
        """This scope with more names."""
        wanted = self._known | known_names(names)
        return self if wanted == self._known else TextScope(self.place, wanted)

    def keeping(self) -> TextScope:
        """This scope for texts that are evaluated while their file is read."""
        place = self.place
        mode = CAMUNDA if place.is_camunda else DMN
        return TextScope(FileContext(mode, place.types, place.report, place.limits), self._known)

    def expression(self, text: Text | None) -> Closure:
        """The closure of an expression; a missing one is null."""
        if text is None:
            return null
        if text.text not in self._closures:
            compiled = self._compiled(text)
            self._closures[text.text] = compiled if self.place.keeps else null
        return self._closures[text.text]

    def constant(self, text: Text) -> Any:
        """The value of an expression without variables; None if it fails. One that reaches a limit is a problem."""
        return self.constant_of(self._compiled(text), text, quote(text.text))

    def constant_of(self, closure: Closure, source: Text | External, what: str) -> Any:
        """The value of a closure, like `constant`. `what` names it in a problem."""
        place = self.place
        run = Run({}, None, place.limits, CONSTANT_STEPS)
        try:
            value = closure(run)
        except LimitExceeded as error:
            self.refused(source, f"{what} cannot be evaluated in {CONSTANT_STEPS} steps: it exceeds {error.limit}")
            value = None
        except EvaluationError:  # in Camunda's mode; in DMN's it is null
            value = None
        place.effort.spend(CONSTANT_STEPS - max(run.steps, 0))
        return value

    def refused(self, source: Text | External, message: str) -> Closure:
        """Report a problem. The closure of what has it fails when it is evaluated."""
        self.place.report.add_problem_at(source.id, source.line, message)
        closure = failing(message)
        return closure if self.is_camunda else or_null(closure)

    def _compiled(self, text: Text) -> Closure:
        if self._has_constants:
            with suppress(NotConstant):
                return _literal(constant_value(text.text, self.place.limits))
        closure = self._attempt(text, "expression", compile_fragment)
        return closure if self.is_camunda else or_null(closure)

    def constant_test(self, text: Text) -> Test | None:
        """The unary test of an input entry against constants, in little memory; None if it is something else."""
        if not self._has_constants:
            return None
        try:
            test = constant_test(text.text, self.place.limits)
        except NotConstant:
            return None
        if not self.place.keeps:
            return _CHECKED
        return Test(test, 1, TEST_STEPS, (test.value,) if test.sign == "=" else None)

    def test(self, text: Text) -> Test:
        """The unary tests of an input entry."""
        if text.text not in self._tests:
            compiled = self._attempt(text, "unary-tests", compile_test)
            self._tests[text.text] = compiled if self.place.keeps else _CHECKED
        return self._tests[text.text]

    def _attempt(self, text: Text, what: str, compile: Callable[..., Any]) -> Any:
        """The compiled text. One that cannot be parsed is a problem, and fails when it is evaluated."""
        place = self.place
        place.effort.spend_on_text(text.text)
        try:
            return compile(text.text, self._names, place.dialect, place.limits)
        except ParseError as error:
            message = f"FEEL {what}: failed to parse {quote(text.text)}: {error}"
            place.report.add_problem_at(text.id, text.line, message)
            failure = failing(message)
            return failure if compile is compile_fragment else Test(failure, 1, 1, None)

    def coercion(self, type_ref: str) -> Coercion | None:
        """The conversion to a type of DMN mode; None if there is nothing to convert."""
        return None if self.is_camunda else coercion(self.place.types.check(type_ref), type_ref)

    def typed(self, closure: Closure, type_ref: str) -> Closure:
        """A closure whose value is converted to a type."""
        coerce = self.coercion(type_ref)
        return closure if coerce is None else lambda run: coerce(run, closure(run))


def or_null(closure: Closure) -> Closure:
    """A closure that gives null and a warning for a failure that is no limit, as DMN wants it."""

    def value_or_null(run: Run) -> Any:
        try:
            return closure(run)
        except LimitExceeded:
            raise
        except EvaluationError as error:
            run.warn(error.type, str(error))
            return None

    return value_or_null
