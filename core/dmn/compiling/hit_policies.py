"""Hit policies: from the outputs of the rules that match to the value of the table (DMN 1.5, 8.2.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from vivero.core.feel.builtins import FUNCTIONS
from vivero.core.feel.closures.scope import Closure
from vivero.core.feel.errors import EvaluationError
from vivero.core.feel.semantics import equal, message_text
from vivero.core.feel.values import FunctionFailure, Run, is_number

Row: TypeAlias = tuple[Any, ...]
Decide: TypeAlias = Callable[[Run, Sequence[Row]], Any]
"""The value of a table from the outputs of the rules that match, in the order of the rules."""


class HitPolicyViolated(EvaluationError):
    """More rules match than the hit policy allows, or their outputs do not fit it."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a table for its hit policy. `priorities` and `defaults` are None for columns without them."""

    names: tuple[str, ...]
    priorities: list[list[Any] | None]
    defaults: list[Closure | None]
    aggregation: str
    is_camunda: bool

    def shape(self, row: Row) -> Any:
        """The value of a single output; a context of several."""
        return row[0] if len(self.names) == 1 else dict(zip(self.names, row, strict=True))

    def default(self, run: Run) -> Any:
        """The default outputs; null without any. Outputs without a default are null."""
        if not any(self.defaults):
            return None
        return self.shape(tuple(None if each is None else each(run) for each in self.defaults))

    def by_priority(self, run: Run, rows: Sequence[Row]) -> list[Row]:
        """The rows, highest priority first. Values outside a list come last; equal priorities keep their order."""
        run.spend(len(rows) * sum(map(len, filter(None, self.priorities))))
        return sorted(rows, key=lambda row: [_place(run, *each) for each in zip(row, self.priorities, strict=True)])


def _place(run: Run, value: Any, priorities: list[Any] | None) -> int:
    if priorities is None:
        return 0
    places = (place for place, each in enumerate(priorities) if equal(run, each, value) is True)
    return next(places, len(priorities))


def _or_default(of: Outputs, choose: Decide) -> Decide:
    return lambda run, rows: choose(run, rows) if rows else of.default(run)


def _unique(of: Outputs) -> Decide:
    def unique(run: Run, rows: Sequence[Row]) -> Any:
        if len(rows) > 1:
            found = message_text(run, [of.shape(row) for row in rows])
            raise HitPolicyViolated(f"multiple values aren't allowed for UNIQUE hit policy. found: '{found}'")
        return of.shape(rows[0])

    return _or_default(of, unique)


def _any(of: Outputs) -> Decide:
    def any_(run: Run, rows: Sequence[Row]) -> Any:
        values = [of.shape(row) for row in rows]
        if not all(equal(run, values[0], value) is True for value in values):
            found = message_text(run, values)
            raise HitPolicyViolated(f"different values aren't allowed for ANY hit policy. found: '{found}'")
        return values[0]

    return _or_default(of, any_)


def _first(of: Outputs) -> Decide:
    return _or_default(of, lambda run, rows: of.shape(rows[0]))


def _priority(of: Outputs) -> Decide:
    return _or_default(of, lambda run, rows: of.shape(of.by_priority(run, rows)[0]))


def _output_order(of: Outputs) -> Decide:
    return _or_default(of, lambda run, rows: [of.shape(row) for row in of.by_priority(run, rows)])


def _rule_order(of: Outputs) -> Decide:
    return _or_default(of, lambda run, rows: [of.shape(row) for row in rows])


def _collect(of: Outputs) -> Decide:
    if not of.aggregation:
        return _rule_order(of)
    if of.aggregation == "COUNT":
        return _count(of)
    return _or_default(of, _aggregate(of.aggregation))


def _count(of: Outputs) -> Decide:
    """The number of rules that match. Without any, Camunda gives null and DMN 0."""

    def count(run: Run, rows: Sequence[Row]) -> Any:
        return len(rows) if rows or not (of.is_camunda or any(of.defaults)) else of.default(run)

    return count


def _aggregate(aggregation: str) -> Decide:
    """SUM, MIN or MAX of the only output: numbers, and for MIN and MAX whatever has an order."""
    fn = FUNCTIONS[aggregation.lower()][0].fn

    def aggregate(run: Run, rows: Sequence[Row]) -> Any:
        values = [row[0] for row in rows]
        try:
            result = fn(run, values)
        except FunctionFailure as failure:
            raise HitPolicyViolated(str(failure)) from None
        if result is None:
            other = next((value for value in values if not is_number(value)), None)
            raise HitPolicyViolated(f"expected number but found '{message_text(run, other)}'")
        return result

    return aggregate


POLICIES: Mapping[str, Callable[[Outputs], Decide]] = {
    "UNIQUE": _unique,
    "ANY": _any,
    "FIRST": _first,
    "PRIORITY": _priority,
    "OUTPUT ORDER": _output_order,
    "RULE ORDER": _rule_order,
    "COLLECT": _collect,
}
"""Name of a hit policy → how it decides."""
