"""Evaluations of decisions."""

from __future__ import annotations

from vivero.core.records.decision_evaluations import DecisionEvaluated, EvaluatedDecision
from vivero.core.state.decision_instances import EVALUATED, FAILED, DecisionInstance
from vivero.core.state.rows import Row
from vivero.core.state.state import State


def decision_evaluated(state: State, event: DecisionEvaluated) -> Row:
    """The row of the last decision. An event that an erasure has emptied has none."""
    element = None if event.element is None else state.elements[event.element]
    row = Row(event.key)
    last = len(event.decisions)
    for number, decision in enumerate(event.decisions, 1):
        failure = event.failure if number == last else None
        row = DecisionInstance(
            event.key + number,
            element,
            event.tenant,
            event.key,
            number,
            decision.definition_key,
            decision.id,
            decision.name,
            decision.version,
            decision.type,
            event.definition_key,
            event.requirements_key,
            EVALUATED if failure is None else FAILED,
            failure,
            decision.result,
            decision.inputs,
            decision.rules,
            state.now,
            None if element is None else element.instance.business_id,
        )
        state.add(row)
        state.written += _characters(decision)
    return row


def _characters(decision: EvaluatedDecision) -> int:
    inputs = sum(len(each.value) for each in decision.inputs)
    return len(decision.result) + inputs + sum(len(one.value) for rule in decision.rules for one in rule.outputs)
