"""The evaluation of a decision, or of a decision service, with everything that it requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vivero.core.dmn.compiling.linking import Key
from vivero.core.dmn.compiling.tables import MatchedRule
from vivero.core.dmn.compiling.walk import DecisionFailed, Walk
from vivero.core.dmn.decisions import Decisions
from vivero.core.dmn.model import Decision
from vivero.core.feel.codec import to_json
from vivero.core.feel.errors import EvaluationError, LimitExceeded
from vivero.core.feel.values import FeelLimits, Run, Warning


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """A decision that was evaluated. `inputs` and `matched` explain a table; other logic has none.

    `value` is null if the decision failed.
    """

    key: Key
    decision: Decision
    value: Any
    inputs: tuple[Any, ...] = ()
    matched: tuple[MatchedRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The decision that failed, and why. `limit` is the limit of `FeelLimits` that was exceeded, if one was."""

    key: Key
    message: str
    limit: str | None = None

    @property
    def text(self) -> str:
        """The failure for messages."""
        return expected(self.key.id) + self.message


def expected(decision_id: str) -> str:
    """The beginning of the message for a decision that could not be evaluated."""
    return f"Expected to evaluate decision '{decision_id}', but "


@dataclass(frozen=True, slots=True)
class DecisionEvaluation:
    """The result of an evaluation: `decisions` in the order of evaluation, the failed or the asked one last."""

    value: Any
    decisions: tuple[DecisionResult, ...]
    failure: Failure | None
    warnings: tuple[Warning, ...]
    steps: int


def evaluate(
    decisions: Decisions,
    key: Key,
    variables: Mapping[str, Any],
    now_ms: int | None = None,
    steps: int | None = None,
    *,
    is_json: bool = False,
) -> DecisionEvaluation:
    """Evaluate a decision. Never raises for what a model does.

    `now_ms`: epoch milliseconds, for `now()` and `today()`. `steps`: the budget, instead of that of the decisions.
    `is_json`: the variables were JSON, so that their texts may be dates, times and durations (docs/decisions.md).
    """
    limits = decisions.limits if steps is None else replace(decisions.limits, steps=steps)
    run = _run(limits, variables, now_ms)
    walk = Walk(run, decisions.graph, key.resource, variables, is_json=is_json)
    done: list[DecisionResult] = []
    value, failure = None, None
    for each in decisions.graph.order([key]):
        table = None
        try:
            table = walk.evaluate(each)
            if each == key:
                to_json(walk.results[key], limits)
        except DecisionFailed as failed:
            failure, table = _failure(each, failed.error), failed.table
        except EvaluationError as error:
            failure, table = _failure(each, error), None
        except RecursionError:
            failure = Failure(each, _TOO_DEEP, "nesting_depth")
        value = None if failure is not None else walk.results[each]
        inputs, matched = ((), ()) if table is None else (table.inputs, table.matched)
        done.append(DecisionResult(each, decisions.graph.decisions[each].element, value, inputs, matched))
        if failure is not None:
            break
    return DecisionEvaluation(value, tuple(done), failure, tuple(run.warnings), limits.steps - run.steps)


_TOO_DEEP = "the evaluation nests deeper than the limit allows"


def _run(limits: FeelLimits, variables: Mapping[str, Any], now_ms: int | None) -> Run:
    return Run(variables, now_ms, limits, limits.steps, [])


def _failure(key: Key, error: EvaluationError) -> Failure:
    return Failure(key, str(error), error.limit if isinstance(error, LimitExceeded) else None)


def evaluate_service(
    decisions: Decisions, key: Key, variables: Mapping[str, Any], now_ms: int | None = None
) -> DecisionEvaluation:
    """Call a decision service with the variables that its parameters name. Missing ones are null."""
    run = _run(decisions.limits, {}, now_ms)
    function = decisions.graph.functions[key]
    failure, value = None, None
    try:
        arguments = [variables.get(name) for name in function.parameters]
        value = function.call(run, arguments)
        to_json(value, decisions.limits)
    except EvaluationError as error:
        failure, value = _failure(key, error), None
    except RecursionError:
        failure, value = Failure(key, _TOO_DEEP, "nesting_depth"), None
    return DecisionEvaluation(value, (), failure, tuple(run.warnings), decisions.limits.steps - run.steps)
