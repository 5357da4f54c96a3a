"""All that a deployment can evaluate, compiled: decisions with their variables, functions, and orders of evaluation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from vivero.core.dmn.compiling.linking import Key, Linked, in_order, linked_decisions
from vivero.core.dmn.compiling.tables import CompiledTable
from vivero.core.dmn.compiling.types import Check, Coercion
from vivero.core.dmn.model import CAMUNDA, Decision
from vivero.core.feel.closures.scope import Closure
from vivero.core.feel.values import Function


class Source(NamedTuple):
    """A variable of a decision: its import (empty: none), its name, and the element that it is of."""

    prefix: str
    name: str
    key: Key


@dataclass(slots=True)
class CompiledDecision:
    """A decision that can be evaluated. Its logic is a table, or a closure for all other kinds."""

    element: Decision
    is_camunda: bool
    inputs: list[Source]
    decisions: list[Source]
    functions: list[Source]
    closure: Closure
    table: CompiledTable | None
    coerce: Coercion | None
    check: Check | None
    """The check of the result in Camunda's mode."""


@dataclass(slots=True)
class Graph:
    """All that a deployment can evaluate. `coercions` are those of input data, `json_inputs` those of their JSON."""

    linked: Linked
    decisions: dict[Key, CompiledDecision]
    functions: dict[Key, Function]
    coercions: dict[Key, Coercion | None]
    json_inputs: dict[Key, Coercion | None]
    orders: dict[tuple[tuple[Key, ...], frozenset[Key]], list[Key]]
    """The orders of evaluation that were asked for: of all decisions that some decisions require, and of these."""

    def order(self, asked: Iterable[Key], given: frozenset[Key] = frozenset()) -> list[Key]:
        """The decisions to evaluate, required ones first, each once. Those that are `given` are left out."""
        wanted = tuple(asked), given
        if wanted not in self.orders:
            self.orders[wanted] = in_order(wanted[0], linked_decisions(self.linked), given)
        return self.orders[wanted]


def result_name(decision: Decision, mode: str) -> str:
    """The name of a decision's result: of its variable, otherwise its id in Camunda's mode, and its name in DMN's."""
    return decision.variable.name or (decision.id if mode == CAMUNDA else decision.name)


def put(variables: dict[str, Any], source: Source, value: Any) -> None:
    """Add a variable, in the context of its import if it belongs to one."""
    if not source.prefix:
        variables[source.name] = value
        return
    own = variables.get(source.prefix)
    variables[source.prefix] = {**own, source.name: value} if type(own) is dict else {source.name: value}
