"""Conditional start events of processes: commands and events."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from vivero.core.partitions import homes
from vivero.core.records.base import Command, Event, Sender, Variables


class EvaluateConditionals(Command, frozen=True):
    """Start an instance at each conditional start event whose condition is true with these variables.

    `definition_key`: evaluate only this version of a process. Only the latest version has open start events.
    """

    intent: ClassVar[str] = "CONDITIONAL_EVALUATION:EVALUATE"
    home = homes.anywhere
    sent_by = Sender.CLIENT
    creates_work = True

    variables: Variables = {}
    definition_key: int | None = None


class ConditionalsEvaluated(Event, frozen=True):
    """The conditions were evaluated with `variables` (JSON text). Instances start by commands of their own."""

    key: int
    variables: dict[str, str] = {}


class StartedInstance(msgspec.Struct, frozen=True, rename="camel", gc=False):
    process_definition_key: int
    process_instance_key: int


class ConditionalsReply(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The answer of the evaluation: the instances that it starts."""

    conditional_evaluation_key: int
    tenant_id: str
    process_instances: tuple[StartedInstance, ...]
