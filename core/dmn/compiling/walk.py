"""One walk over the decisions of a graph: each is evaluated once, with the results of those that it requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vivero.core.dmn.compiling.given import copied
from vivero.core.dmn.compiling.linking import Key
from vivero.core.dmn.compiling.parts import CompiledDecision, Graph, put
from vivero.core.dmn.compiling.tables import TableResult
from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.semantics import message_text
from vivero.core.feel.values import Run


@dataclass(slots=True)
class DecisionFailed(Exception):
    """A decision failed. `table` explains it if its logic is a table that got so far."""

    error: EvaluationError
    table: TableResult | None = None


@dataclass(slots=True)
class Walk:
    """`given` are the variables of the evaluation, seen from the file `root`, with `is_json` as JSON has them.

    `results` holds those known so far.
    """

    run: Run
    graph: Graph
    root: str
    given: Mapping[str, Any]
    results: dict[Key, Any] = field(default_factory=dict)
    is_json: bool = False
    _inputs: dict[Key, Any] = field(default_factory=dict)

    def evaluate(self, key: Key) -> TableResult | None:
        """Evaluate a decision whose required ones have results. The explanation of a table, None for other logic.

        Raises DecisionFailed.
        """
        decision = self.graph.decisions[key]
        table = None
        try:
            self.run.variables = self._variables(decision)
            if decision.table is None:
                value = decision.closure(self.run)
            else:
                table = decision.table.evaluate(self.run)
                value = table.value
                if table.violation is not None:
                    decision.table.tell(self.run, table.violation)
            self.results[key] = self._typed(decision, value)
        except EvaluationError as error:
            raise DecisionFailed(error, table) from None
        return table

    def _typed(self, decision: CompiledDecision, value: Any) -> Any:
        """The value as a result. Camunda fails for a value of another type, and DMN converts it."""
        if decision.coerce is not None:
            return decision.coerce(self.run, value)
        if decision.check is not None and not decision.check(self.run, value):
            expected = decision.element.variable.type_ref
            raise EvaluationError(f"expected '{expected}' but found '{message_text(self.run, value)}'")
        return value

    def _variables(self, decision: CompiledDecision) -> dict[str, Any]:
        """The variables that a decision sees: what it requires, and in Camunda's mode all that is given."""
        variables = copied(self.given) if decision.is_camunda else {}
        self.run.spend(5 + (len(variables) >> 3))
        for source in decision.inputs:
            put(variables, source, self._input(source.key))
        for source in decision.decisions:
            put(variables, source, self.results[source.key])
        for source in decision.functions:
            put(variables, source, self.graph.functions[source.key])
        return variables

    def _input(self, key: Key) -> Any:
        if key not in self._inputs:
            value = self._given(key)
            convert = self.graph.json_inputs.get(key) if self.is_json else None
            value = value if convert is None else convert(self.run, value)
            coerce = self.graph.coercions.get(key)
            self._inputs[key] = value if coerce is None else coerce(self.run, value)
        return self._inputs[key]

    def _given(self, key: Key) -> Any:
        """The value given for an input: that of an imported file in the context of its import, or by its plain name."""
        element = self.graph.linked.element(key)
        own: Any = self.given
        for name in self.graph.linked.path(self.root, key.resource):
            own = own.get(name) if isinstance(own, Mapping) else None
        for variables in (own, self.given):
            for name in (element.variable.name, element.name):
                if isinstance(variables, Mapping) and name in variables:
                    return variables[name]
        return None
