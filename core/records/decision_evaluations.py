"""Evaluations of decisions: commands and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables


class EvaluateDecision(Command, frozen=True):
    """Evaluate a decision by `decision_key`, or the latest version of `decision_id`, outside of all instances."""

    intent: ClassVar[str] = "DECISION_EVALUATION:EVALUATE"
    home = homes.anywhere
    sent_by = Sender.CLIENT
    creates_work = True

    decision_id: str | None = None
    decision_key: int | None = None
    variables: Variables = {}


class EvaluatedInput(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An input of a table: the column's id and name, and its value as text."""

    id: str
    name: str
    value: str


class EvaluatedOutput(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An output of a rule: the column's id and name, and its value as text."""

    id: str
    name: str
    value: str


class EvaluatedRule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A rule that matched. `index`: its place in the table, from 1."""

    id: str
    index: int
    outputs: tuple[EvaluatedOutput, ...]


class EvaluatedDecision(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A decision that was evaluated. `type` as the REST API names it; `result`, as the other values, is JSON text.

    Texts that are too long are cut and end in `…` (`core.shared.decision_audit`).
    """

    definition_key: int
    id: str
    name: str
    version: int
    type: str
    result: str
    inputs: tuple[EvaluatedInput, ...] = ()
    rules: tuple[EvaluatedRule, ...] = ()


class DecisionEvaluated(Event, frozen=True):
    """A decision was evaluated with those that it requires, in the order of `decisions`: the asked one is the last.

    The following keys of the partition, one for each of `decisions`, are those of their rows. `failure`: the reason why
    the last one failed. `element`: the business rule task; None for the request of a client.
    """

    key: int
    tenant: str
    definition_key: int
    requirements_key: int
    decisions: tuple[EvaluatedDecision, ...]
    failure: str | None = None
    element: int | None = None


class DecisionReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer of an evaluation: the version that was asked for, its result as JSON text, its cost, and the failure.

    `steps`: those of all expressions together.
    """

    decision_evaluation_key: int
    decision_definition_key: int
    decision_definition_id: str
    decision_definition_name: str
    decision_definition_version: int
    decision_requirements_key: int
    decision_requirements_id: str
    tenant_id: str
    output: str
    decisions: tuple[EvaluatedDecision, ...]
    failed_decision_definition_id: str | None = None
    failure_message: str | None = None
    steps: int = 0
