"""The values of expressions, with the variables that an element sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vivero.core.bpmn.model import Node
from vivero.core.expressions.budget import LARGE, StageBudget
from vivero.core.expressions.camunda_context import CAMUNDA
from vivero.core.expressions.results import EXTRACT, column_text, json_of, not_kept, type_name, unexpected
from vivero.core.feel import Evaluation as FeelEvaluation
from vivero.core.feel import EvaluationError, Expression, from_json, measure_json
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Fail, IncidentType
from vivero.core.rules import VERY_LARGE_JSON
from vivero.core.state.compensation import PastScope
from vivero.core.state.instance_tree import MISSING, Element, Variable
from vivero.core.state.state import State

RESULT_CHARACTERS = 32
"""The charge for decoding one result of a loop, in addition to its length."""


class VariableScope(Mapping[str, Any]):
    """The variables that an element sees, decoded at their first use. A look-up of `camunda` without a variable of
    this name gives the context.

    In a loop they include its results so far, which are no row of `variables` before its end.
    """

    __slots__ = ("_element", "_expressions", "_extra", "_results")

    def __init__(self, element: Element | PastScope | None, extra: Mapping[str, Any], expressions: Expressions) -> None:
        self._element = element
        self._extra = extra
        self._expressions = expressions
        self._results: dict[str, list[Any]] | None = None
        """Decoded results by name."""

    def __getitem__(self, name: str) -> Any:
        if name in self._extra:
            return self._extra[name]
        scope: Element | PastScope | None = self._element
        while scope is not None:
            variable = scope.variables.get(name)
            if variable is not None:
                if len(variable.value) > LARGE:
                    return self._expressions.read(variable)
                return variable.decode()
            if scope.loop is not None and self._expressions.results_name(scope) == name:
                return self._results_of(scope, name)
            scope = scope.seen_next()
        if name == CAMUNDA:
            return self._expressions.camunda(self._element)
        raise KeyError(name)

    def variable(self, name: str) -> Any:
        """The value of a variable; None without one. The context is no variable."""
        return None if name == CAMUNDA and name not in list(self) else self.get(name)

    def _results_of(self, body: Element, name: str) -> list[Any]:
        """The results of a loop, decoded once per evaluation."""
        if self._results is None:
            self._results = {}
        if name not in self._results:
            self._results[name] = self._expressions.loop_results(body)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(self._extra)
        scope: Element | PastScope | None = self._element
        while scope is not None:
            names.update(dict.fromkeys(scope.variables))
            results = None if scope.loop is None else self._expressions.results_name(scope)
            if results is not None:
                names[results] = None
            scope = scope.seen_next()
        return iter(names)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Expressions:
    """Evaluates expressions for one partition. What they cost is taken from the budget of the stage."""

    __slots__ = ("_node", "_state", "budget", "camunda")

    def __init__(
        self,
        state: State,
        budget: StageBudget,
        node: Callable[[Element], Node],
        camunda: Callable[[Element | PastScope | None], Mapping[str, Any]],
    ) -> None:
        """`camunda` gives the context `camunda` for an element; without one, for the command's tenant."""
        self.budget = budget
        self._state, self._node, self.camunda = state, node, camunda

    def evaluate(
        self,
        expression: Expression,
        element: Element | PastScope | None,
        failure: IncidentType = EXTRACT,
        extra: Mapping[str, Any] = {},  # never changed
    ) -> Any:
        """The value of `expression` with `extra` and the variables that `element` sees; `extra` comes first.

        Without an element the expression sees `extra` alone.

        Raises:
            Fail: the expression has no value; of type `failure`.
        """
        if expression.is_static:
            return expression.static_value
        return self.evaluation(expression, element, failure, extra).value

    def evaluation(
        self,
        expression: Expression,
        element: Element | PastScope | None,
        failure: IncidentType,
        extra: Mapping[str, Any],
    ) -> FeelEvaluation:
        """Like `evaluate`, with warnings."""
        if expression.is_static:
            return FeelEvaluation(expression.static_value, [])
        try:
            evaluation, steps = expression.evaluate_within(
                self.variables(element, extra), self._state.now, self.budget.steps_left
            )
        except EvaluationError as error:
            self.budget.take_steps(error.steps)
            raise Fail(failure, f"Failed to evaluate expression '{expression.text}'. {error}") from error
        self.budget.take_steps(steps)
        return evaluation

    def typed(
        self,
        expression: Expression,
        element: Element,
        expected: type,
        failure: IncidentType = EXTRACT,
        extra: Mapping[str, Any] = {},
    ) -> Any:
        """The value of `expression`, which must be of the Python type `expected`.

        Raises:
            Fail: it is of another type. The message has that type and the warnings of the evaluation.
        """
        evaluation = self.evaluation(expression, element, failure, extra)
        value, warnings = evaluation.value, evaluation.warnings
        if type(value) is expected:
            return value
        raise Fail(failure, unexpected(expression, f"'{type_name(expected)}'", type_name(type(value)), warnings))

    def text(self, expression: Expression, element: Element, failure: IncidentType = EXTRACT) -> str:
        """The value of `expression`, which must be a text that a column can hold.

        Raises:
            Fail: it is of another type, has a NUL character, or is too long.
        """
        value = expression.static_value
        if type(value) is not str:
            value = self.typed(expression, element, str, failure)
        return column_text(expression, value, failure)

    def value_of(self, text: str) -> Any:
        """Decode JSON text, and charge it to the quantum if it is large."""
        if len(text) > LARGE:
            self.budget.charge(len(text))
        return from_json(text)

    def json_of(self, value: Any, failure: IncidentType = EXTRACT) -> str:
        """Encode a value as JSON text. Large texts are charged to the quantum, and limited per stage."""
        text = self.uncharged_json_of(value, failure)
        if len(text) > LARGE:
            self.budget.charge(len(text))
        return text

    def uncharged_json_of(self, value: Any, failure: IncidentType = EXTRACT) -> str:
        """Encode a value as JSON text. The number of values that are encoded one by one is limited per stage."""
        if type(value) is not list and type(value) is not dict:
            return json_of(value, failure)
        try:
            text, looked_at = measure_json(value, self.budget.known, self.budget.values_left)
        except EvaluationError as error:
            raise not_kept(error, failure) from error
        if looked_at:
            self.budget.take_values(looked_at)
        return text

    # ---- variables, and results of loops

    def variables(self, element: Element | PastScope | None, extra: Mapping[str, Any]) -> VariableScope:
        """The variables that `element` sees, and `extra`, which comes first."""
        return VariableScope(element, extra, self)

    def read(self, variable: Variable) -> Any:
        """The value of a large variable for an expression. Raises Fail if the stage reads too much."""
        self.budget.note_read(variable.key, len(variable.value))
        if variable.decoded is MISSING:
            self.budget.charge(len(variable.value))
            if len(variable.value) > VERY_LARGE_JSON:
                self._adopt(variable)
        value = variable.decode()
        if variable.canonical is not None:
            self.budget.known[id(value)] = variable.canonical
        return value

    def _adopt(self, variable: Variable) -> None:
        """Take the value that was decoded for this batch. Raises NotLoaded if it was not."""
        try:
            variable.decoded, variable.canonical = self._state.values[variable.value]
        except KeyError:
            raise NotLoaded(Need(NeedKind.VALUE, variable.value)) from None

    def loop_results(self, body: Element) -> list[Any]:
        """The results of a loop so far, in the order of its items; None for a missing one.

        Raises:
            NotLoaded: some results are not in memory.
        """
        texts = [item.result for item in body.items]
        if body.pages is not None and body.loop is not None:
            need_results(body)
            texts = [body.pages.results.get(index) for index in range(body.loop.size)]
        collected = len(texts) if body.loop is None else len(texts) + body.loop.collected
        if collected > LARGE:
            self.budget.note_read(body.key, collected)
            self.budget.charge(RESULT_CHARACTERS * len(texts) + collected)
        return [None if text is None else from_json(text) for text in texts]

    def results_name(self, body: Element) -> str | None:
        """The variable that gets the results of a loop at its end; None if it collects none."""
        loop = self._node(body).loop
        return None if loop is None else loop.output_name


def need_results(body: Element) -> None:
    """Raise NotLoaded if a paged loop has results that are not in memory."""
    if body.pages is not None and body.loop is not None and len(body.pages.results) < body.loop.completed:
        raise NotLoaded(Need(NeedKind.RESULTS, body.key))
