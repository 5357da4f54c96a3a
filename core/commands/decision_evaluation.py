"""Evaluations of decisions by clients, outside of all instances."""

from __future__ import annotations

from vivero.core.dmn.evaluation import expected
from vivero.core.needs import Need, NeedKind, Needs, NotLoaded
from vivero.core.records.decision_evaluations import DecisionReply, EvaluateDecision
from vivero.core.records.effects import Effects, Reject, RejectionCode, Reply
from vivero.core.shared.bindings import bound
from vivero.core.shared.decisions import evaluate, evaluated_event
from vivero.core.shared.variables import texts_of
from vivero.core.state.catalogue import DecisionVersion
from vivero.core.view import View


def needs(command: EvaluateDecision, tenant: str) -> Needs:
    if command.decision_key is not None:
        yield Need(NeedKind.DECISION, command.decision_key)
    else:
        yield Need(NeedKind.DECISIONS, (tenant, command.decision_id))


def evaluate_decision(command: EvaluateDecision, view: View) -> Effects:
    """Evaluate the decision. A failure is an answer, too: the request was right, and its audit is kept."""
    decision = _version(command, view)
    requirements = view.requirements(decision.requirements)
    if requirements is None:
        raise NotLoaded(Need(NeedKind.REQUIREMENTS_KEY, decision.requirements))
    texts = texts_of(command.variables)
    variables = {name: view.expressions.value_of(text) for name, text in texts.items()}
    evaluated = evaluate(decision, view.expressions.variables(None, variables), view)
    yield (event := evaluated_event(evaluated, view))
    yield Reply(
        DecisionReply(
            event.key,
            decision.key,
            decision.decision_id,
            decision.name,
            decision.version,
            requirements.key,
            requirements.requirements_id,
            decision.tenant,
            evaluated.output,
            evaluated.decisions,
            evaluated.failed_id,
            evaluated.failure,
            evaluated.steps,
        )
    )


def _version(command: EvaluateDecision, view: View) -> DecisionVersion:
    if command.decision_key is None:
        decision = bound(view.decision_versions(command.decision_id or "").values(), "latest")
        named, described = command.decision_id, f"id '{command.decision_id}'"
    else:
        decision = view.decision(command.decision_key)
        named, described = str(command.decision_key), f"key '{command.decision_key}'"
    if decision is None or decision.tenant != view.tenant or decision.state != "ACTIVE":
        raise Reject(RejectionCode.NOT_FOUND, f"{expected(named or '')}no decision found for {described}")
    return decision
