"""The evaluation of a deployed decision, for business rule tasks and for requests of clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vivero.core.dmn import DecisionEvaluation, Failure
from vivero.core.dmn import evaluate as evaluate_compiled
from vivero.core.dmn.compiling.linking import Key
from vivero.core.dmn.evaluation import expected
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.decision_evaluations import DecisionEvaluated, EvaluatedDecision
from vivero.core.records.effects import Fail, incident_message
from vivero.core.rules import CHARACTERS_PER_STEP
from vivero.core.shared.decision_audit import audited
from vivero.core.state.catalogue import DecisionVersion
from vivero.core.view import View

MATCHED_SHOWN = 20
"""Rules that the message of a failure names."""


class Evaluated(NamedTuple):
    """The result of an evaluation. `output` is JSON text, `null` if it failed; then `failure` says why.

    `steps`: those of its expressions, and of writing its audit.
    """

    decision: DecisionVersion
    output: str
    decisions: tuple[EvaluatedDecision, ...]
    failure: str | None
    failed_id: str | None
    steps: int = 0


def evaluate(decision: DecisionVersion, variables: Mapping[str, Any], view: View) -> Evaluated:
    """Evaluate a version of a decision with at most half of the budget of the stage, as an expression may take.

    Raises:
        NotLoaded: its compiled file, or a decision that it requires, is not in memory.
    """
    compiled = view.compiled(decision)
    if compiled is None:
        failure = f"{expected(decision.decision_id)}its file cannot be read any more, or not in time"
        unreadable = EvaluatedDecision(
            decision.key, decision.decision_id, decision.name, decision.version, "UNKNOWN", "null"
        )
        return Evaluated(decision, "null", (unreadable,), failure, decision.decision_id)
    budget = view.budget
    steps = max(min(budget.steps_left, budget.stage_steps // 2), 0)
    key = Key(decision.sha256, decision.decision_id)
    evaluation = evaluate_compiled(compiled, key, variables, view.now, steps, is_json=True)
    budget.take_steps(evaluation.steps)
    versions = {each.key: _version(each.key, decision, view) for each in evaluation.decisions}
    of_all, characters = audited(evaluation, versions)
    budget.charge(characters)
    steps = evaluation.steps + characters // CHARACTERS_PER_STEP
    if evaluation.failure is not None:
        failure = _message(decision, evaluation.failure, evaluation)
        return Evaluated(decision, "null", of_all, failure, evaluation.failure.key.id, steps)
    try:
        output = view.expressions.json_of(evaluation.value)
    except Fail as unfit:
        failure = expected(decision.decision_id) + unfit.message
        return Evaluated(decision, "null", of_all, failure, decision.decision_id, steps)
    return Evaluated(decision, output, of_all, None, None, steps)


def evaluated_event(evaluated: Evaluated, view: View, element: int | None = None) -> DecisionEvaluated:
    """The event of an evaluation, with as many keys as it has decisions."""
    decision, key = evaluated.decision, view.key()
    for _ in evaluated.decisions:
        view.key()
    return DecisionEvaluated(
        key, decision.tenant, decision.key, decision.requirements, evaluated.decisions, evaluated.failure, element
    )


def _version(key: Key, asked: DecisionVersion, view: View) -> DecisionVersion:
    """The version of a decision that `asked` requires, in its file or in one that it imports."""
    if key == (asked.sha256, asked.decision_id):
        return asked
    try:
        versions = view.decision_versions(key.id, asked.tenant)
    except NotLoaded:
        if key.resource == asked.sha256:
            raise NotLoaded(Need(NeedKind.REQUIREMENTS_KEY, asked.requirements)) from None
        raise
    of_deployment = (one for one in versions.values() if one.deployment == asked.deployment)
    return next(one for one in of_deployment if one.sha256 == key.resource)


def _message(asked: DecisionVersion, failure: Failure, evaluation: DecisionEvaluation) -> str:
    """The message of a failure: the decision that was asked for, the one that failed, the reason, the rules."""
    text = expected(asked.decision_id)
    if failure.key != (asked.sha256, asked.decision_id):
        text += f"decision '{failure.key.id}', which it requires, failed: "
    matched = evaluation.decisions[-1].matched
    text += failure.message
    if matched:
        rules = ", ".join(str(each.rule + 1) for each in matched[:MATCHED_SHOWN])
        text += f" (matched rules: {rules}{', …' if len(matched) > MATCHED_SHOWN else ''})"
    return incident_message(text)
