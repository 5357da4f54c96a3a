"""Decision tables as closures (DMN 1.5, chapter 8): which rules match, and their outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from vivero.core.dmn.compiling.hit_policies import POLICIES, Decide, HitPolicyViolated, Outputs
from vivero.core.dmn.compiling.rule_filter import RuleFilter
from vivero.core.dmn.compiling.rule_index import FEWEST_RULES, index_rules
from vivero.core.dmn.compiling.scope import TextScope, or_null
from vivero.core.dmn.model import OutputColumn, Table, Text
from vivero.core.feel.closures.fragments import Test
from vivero.core.feel.closures.scope import Closure
from vivero.core.feel.semantics import message_text
from vivero.core.feel.values import INVALID_TYPE, Run

_SPEND_AT = 1000
"""Steps of cells that are spent together."""


class MatchedRule(NamedTuple):
    """A rule that matched: its place in the table, from 0, and the value of each output."""

    rule: int
    outputs: tuple[Any, ...]


class TableResult(NamedTuple):
    """The value of a table and its explanation. `violation` says which rule of the hit policy was broken."""

    value: Any
    inputs: tuple[Any, ...]
    matched: tuple[MatchedRule, ...]
    violation: str | None = None


class CompiledTable:
    """A table that can be evaluated. `_index` and `_filter` are None for a short table."""

    __slots__ = (
        *("_cells", "_checks", "_columns", "_costs", "_decide", "_filter", "_first_only", "_index", "_inputs"),
        *("_is_camunda", "_outputs", "_slots", "_values", "source"),
    )

    def __init__(self, source: Table, scope: TextScope) -> None:
        self.source = source
        self._is_camunda = scope.is_camunda
        self._inputs = [scope.typed(scope.expression(each.expression), each.type_ref) for each in source.inputs]
        self._values = [_allowed(each.values, scope) for each in source.inputs]
        is_long = len(source.rules) >= FEWEST_RULES
        cells = _Cells(scope, is_long)
        self._checks = [cells.checks(rule.inputs) for rule in source.rules]
        self._columns = cells.columns
        """The column of each cell."""
        self._cells = [test.closure for test in cells.tests]
        self._costs = [test.size for test in cells.tests]
        self._slots = max((test.slots for test in cells.tests), default=0)
        self._index = index_rules(self._checks, cells.tests, cells.columns) if is_long else None
        self._filter = RuleFilter(self._checks, cells.tests, cells.columns) if is_long else None
        columns = _output_columns(source.outputs, scope)
        self._outputs = [
            tuple(column(text) for column, text in zip(columns, rule.outputs, strict=False)) for rule in source.rules
        ]
        self._first_only = source.hit_policy == "FIRST"
        self._decide = _decision(source, scope)

    def evaluate(self, run: Run) -> TableResult:
        """Evaluate the inputs, find the rules that match, and apply the hit policy.

        A violation of the hit policy gives null and is told by `violation`.
        """
        inputs = [closure(run) for closure in self._inputs]
        refused = self._refused(run, inputs)
        if refused is not None:
            return TableResult(None, tuple(inputs), (), refused)
        matched = [
            MatchedRule(rule, tuple([output(run) for output in self._outputs[rule]]))
            for rule in self._hits(run, inputs)
        ]
        try:
            value = self._decide(run, [each.outputs for each in matched])
        except HitPolicyViolated as violation:
            return TableResult(None, tuple(inputs), tuple(matched), str(violation))
        return TableResult(value, tuple(inputs), tuple(matched))

    def value(self, run: Run) -> Any:
        """The value of a table within other logic. A violation fails in Camunda's mode and gives null in DMN's."""
        result = self.evaluate(run)
        if result.violation is not None:
            self.tell(run, result.violation)
        return result.value

    def tell(self, run: Run, violation: str) -> None:
        """Fail in Camunda's mode; warn in that of DMN."""
        if self._is_camunda:
            raise HitPolicyViolated(violation)
        run.warn(INVALID_TYPE, violation)

    def _refused(self, run: Run, inputs: Sequence[Any]) -> str | None:
        """The reason why an input is not allowed; None if all are."""
        for column, value, passes in zip(self.source.inputs, inputs, self._values, strict=True):
            if passes is not None and value is not None and not passes(run, value):
                shown = message_text(run, value)
                return f"the input '{column.label or column.expression.text}' is not one of its allowed values: {shown}"
        return None

    def _hits(self, run: Run, inputs: Sequence[Any]) -> list[int]:
        """The rules that match, in their order. Cells with equal text are evaluated once."""
        outer, run.slots = run.slots, [None] * self._slots
        try:
            return self._matching(run, inputs, run.slots)
        finally:
            run.slots = outer

    def _matching(self, run: Run, inputs: Sequence[Any], slots: list[Any]) -> list[int]:
        rules = range(len(self._checks)) if self._index is None else self._index.candidates(inputs)
        run.spend(1 + len(rules))
        checks: Sequence[Sequence[int]] = self._checks
        if self._filter is not None:
            rules, checks = self._filter.passing(run, inputs, rules)
        columns, cells, costs = self._columns, self._cells, self._costs
        verdicts: list[bool | None] = [None] * len(cells)
        hits, spent = [], 0
        for rule in rules:
            for cell in checks[rule]:
                verdict = verdicts[cell]
                if verdict is None:
                    slots[0] = inputs[columns[cell]]
                    spent += costs[cell]
                    verdicts[cell] = verdict = cells[cell](run) is True
                if not verdict:
                    break
            else:
                hits.append(rule)
                if self._first_only:
                    break
            if spent > _SPEND_AT:
                run.spend(spent)
                spent = 0
        run.spend(spent)
        return hits


class _Cells:
    """The distinct input entries of a table: each text of a column once."""

    def __init__(self, scope: TextScope, small: bool) -> None:
        """`small`: tests against constants take little memory."""
        self._scope, self._small = scope, small
        self._known: dict[tuple[int, str], int] = {}
        self.tests: list[Test] = []
        self.columns: list[int] = []
        """The column of each test."""

    def checks(self, entries: Sequence[Text | None]) -> tuple[int, ...]:
        """The entries of a rule, without those that every input passes."""
        return tuple(self._cell(column, text) for column, text in enumerate(entries) if text is not None)

    def _cell(self, column: int, text: Text) -> int:
        key = column, text.text
        if key not in self._known:
            self._known[key] = len(self.tests)
            self.tests.append(self._test(text))
            self.columns.append(column)
        return self._known[key]

    def _test(self, text: Text) -> Test:
        """The test of a text. Closures of the tree are faster, one by one, than tests against constants."""
        plain = self._scope.constant_test(text) if self._small else None
        return plain or _quiet(self._scope.test(text), self._scope)


def _quiet(test: Test, scope: TextScope) -> Test:
    return test if scope.is_camunda else test._replace(closure=or_null(test.closure))


def _allowed(values: Text | None, scope: TextScope) -> Callable[[Run, Any], bool] | None:
    """The check of a column's allowed values, which Camunda does not make."""
    return None if values is None or scope.is_camunda else scope.place.types.values(values)


def _output_columns(outputs: Sequence[OutputColumn], scope: TextScope) -> list[Callable[[Text | None], Closure]]:
    """For each column, a function from an entry to its closure. Entries with equal text share one."""

    def column(output: OutputColumn) -> Callable[[Text | None], Closure]:
        known: dict[str, Closure] = {}

        def closure(text: Text | None) -> Closure:
            key = "" if text is None else text.text
            if key not in known:
                known[key] = scope.typed(scope.expression(text), output.type_ref)
            return known[key]

        return closure

    return [column(output) for output in outputs]


def _decision(source: Table, scope: TextScope) -> Decide:
    defaults = [None if each.default is None else scope.expression(each.default) for each in source.outputs]
    priorities = [_priorities(each, scope) for each in source.outputs]
    names = tuple(output.name for output in source.outputs)
    return POLICIES[source.hit_policy](Outputs(names, priorities, defaults, source.aggregation, scope.is_camunda))


def _priorities(output: OutputColumn, scope: TextScope) -> list[Any] | None:
    """The values of a column by priority, which is the order of its allowed values; None if it has none."""
    if output.values is None:
        return None
    value = scope.constant(Text(f"[{output.values.text}]", output.values.id, output.values.line))
    return value if type(value) is list else None
