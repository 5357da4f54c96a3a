"""Conditional start events of processes: evaluating them."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.engine.core.records.base import Command, Event, Variables


class EvaluateConditionals(Command, frozen=True):
    """Start an instance at each conditional start event whose condition is true with these variables.

    `definition_key`: only those of this version of a process, which must be the latest to have any.
    """

    intent: ClassVar[str] = "CONDITIONAL_EVALUATION:EVALUATE"
    variables: Variables = {}
    definition_key: int | None = None


class ConditionalsEvaluated(Event, frozen=True):
    """The conditions were evaluated with `variables` (JSON text); what starts is in commands of its own."""

    key: int
    variables: dict[str, str] = {}


class StartedInstance(msgspec.Struct, frozen=True, rename="camel", gc=False):
    process_definition_key: int
    process_instance_key: int


class ConditionalsReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What evaluating the conditions answers: the instances that start."""

    conditional_evaluation_key: int
    tenant_id: str
    process_instances: tuple[StartedInstance, ...]
