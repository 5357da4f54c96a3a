"""Decision services as functions (DMN 1.5, 6.3.11 and 10.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vivero.core.dmn.compiling.linking import Key
from vivero.core.dmn.compiling.logic import converted
from vivero.core.dmn.compiling.parts import Graph, result_name
from vivero.core.dmn.compiling.types import Coercion
from vivero.core.dmn.compiling.walk import DecisionFailed, Walk
from vivero.core.dmn.model import Decision, Service
from vivero.core.feel.closures.calls import enter
from vivero.core.feel.values import Function, Run


def service_function(graph: Graph, key: Key, service: Service, coerce: Coercion | None) -> Function:
    """The service as a function of its input data and its input decisions, which are not evaluated, in this order.

    It gives the result of its output decision, or a context of several, converted by `coerce`.
    """
    inputs = graph.linked.keys(key.resource, service.inputs)
    decisions = graph.linked.keys(key.resource, service.decisions)
    outputs = graph.linked.keys(key.resource, service.outputs)
    parameters = [*inputs, *decisions]
    names = tuple(_name(graph, each) for each in parameters)
    given = frozenset(decisions)

    def call(run: Run, arguments: Sequence[Any]) -> Any:
        values = converted(run, [_coercion(graph, each) for each in parameters], arguments)
        if values is None:
            return None
        results = dict(zip(decisions, values[len(inputs) :], strict=True))
        walk = Walk(run, graph, key.resource, dict(zip(names, values, strict=True)), results)
        _evaluate_all(walk, graph.order(outputs, given))
        result = {_name(graph, each): walk.results[each] for each in outputs}
        value = walk.results[outputs[0]] if len(outputs) == 1 else result
        return value if coerce is None else coerce(run, value)

    return Function(names, call)


def _evaluate_all(walk: Walk, order: Sequence[Key]) -> None:
    """Evaluate decisions in a nested call. The run is as before afterwards."""
    run = walk.run
    outer, outer_slots = run.variables, run.slots
    enter(run)
    try:
        for each in order:
            walk.evaluate(each)
    except DecisionFailed as failed:
        raise failed.error from None
    finally:
        run.depth -= 1
        run.variables, run.slots = outer, outer_slots


def _coercion(graph: Graph, key: Key) -> Coercion | None:
    return graph.decisions[key].coerce if key in graph.decisions else graph.coercions.get(key)


def _name(graph: Graph, key: Key) -> str:
    element = graph.linked.element(key)
    if isinstance(element, Decision):
        return result_name(element, graph.linked.files[key.resource].mode)
    return element.variable.name or element.name
