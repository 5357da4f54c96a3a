"""Conditional start events of processes. A request evaluates them with its own variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vivero.core.events.conditional import START_KINDS
from vivero.core.feel import compile_attribute
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.conditionals import (
    ConditionalsEvaluated,
    ConditionalsReply,
    EvaluateConditionals,
    StartedInstance,
)
from vivero.core.records.effects import Effects, Fail, Reject, RejectionCode, Reply
from vivero.core.records.messages import StartInstance
from vivero.core.shared.deliveries import distribute
from vivero.core.shared.variables import texts_of
from vivero.core.state.message_channels import StartSubscription
from vivero.core.view import View


def needs(command: EvaluateConditionals, _tenant: str) -> Needs:
    yield Need(NeedKind.STARTS, None)
    if command.definition_key is not None:
        yield Need(NeedKind.DEFINITION, command.definition_key)


def evaluate(command: EvaluateConditionals, view: View) -> Effects:
    """Start an instance for each condition that is true. All conditions share the step budget of one stage."""
    _check_definition(command.definition_key, view)
    key, variables = view.key(), texts_of(command.variables)
    values = {name: view.expressions.value_of(text) for name, text in variables.items()}
    starts = [
        StartInstance(view.key(), start.definition, start.element, variables, process_id=start.process_id)
        for start in _candidates(command, view)
        if _is_met(start, values, view)
    ]
    yield ConditionalsEvaluated(key, variables)
    yield from distribute((), starts, variables)
    started = tuple(StartedInstance(start.definition_key, start.key) for start in starts)
    yield Reply(ConditionalsReply(key, view.tenant, started))


def _check_definition(key: int | None, view: View) -> None:
    definition = None if key is None else view.definition(key)
    if key is not None and (definition is None or definition.tenant != view.tenant or definition.state == "DELETED"):
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to evaluate conditional start events of the process definition with key '{key}', but no such "
            "process definition was found",
        )


def _candidates(command: EvaluateConditionals, view: View) -> Iterator[StartSubscription]:
    for start in list(view.starts().rows.values()):
        of_this = command.definition_key in (None, start.definition)
        if of_this and start.kind in START_KINDS and start.tenant == view.tenant:
            yield start


def _is_met(start: StartSubscription, values: dict[str, Any], view: View) -> bool:
    """Whether the condition is true. It counts as false if it fails or gives no boolean."""
    try:
        met = view.expressions.evaluate(compile_attribute(start.name), None, extra=values) is True
    except Fail:
        met = False
    if view.budget.steps_left <= 0:
        raise Reject(
            RejectionCode.INVALID_ARGUMENT,
            "Expected to evaluate conditional start events, but together they take more than "
            f"{view.budget.stage_steps} steps. Name a processDefinitionKey.",
        )
    return met
