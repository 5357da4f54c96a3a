"""Functions that the calls of the library share: the machine of a snapshot, and one command that it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from vivero.core.bpmn.model import Process
from vivero.core.records.base import Command, Variables
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.snapshots.codec import decode
from vivero.core.snapshots.format import DefinitionEntry
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import Instance
from vivero.library.json_values import to_json
from vivero.library.machine import Machine, Rejected
from vivero.library.models import Models
from vivero.library.result import Result, result_of
from vivero.library.times import to_ms

Document = str | bytes


def run(models: Models, snapshot: Document, now: datetime | None, command: Command) -> Result:
    machine = restored(models, snapshot, now)
    machine.run(command)
    return result_of(machine)


def run_at_root(
    models: Models, snapshot: Document, now: datetime | None, command_for: Callable[[int], Command]
) -> Result:
    """Run the command for the key of the process instance."""
    machine = restored(models, snapshot, now)
    machine.run(command_for(root_of(machine).key))
    return result_of(machine)


def restored(
    models: Models, document: Document, now: datetime | None, also: tuple[DefinitionEntry, ...] = ()
) -> Machine:
    """The machine of a live instance, with its deferred work done. `also`: definitions that it knows beside its own.

    Raises:
        Rejected: the instance has ended.
        InvalidSnapshot: the document is damaged.
        MissingModel: a model is not there.
    """
    snapshot = decode(document)
    if snapshot.state != "ACTIVE":
        reason = f"The process instance with key '{snapshot.elements[0].key}' has ended: it is {snapshot.state}"
        raise Rejected(Rejection(RejectionCode.INVALID_STATE, reason))
    machine = Machine.restored(models, snapshot, also)
    if now is not None:
        machine.set_time(to_ms(now))
    machine.continue_work()
    return machine


def root_of(machine: Machine) -> Instance:
    assert machine.root is not None, "a restored machine has a root"
    return machine.state.trees[int(machine.root.key)].root


def process_of(models: Models, definition: Definition) -> Process:
    """The process of a definition that the machine knows."""
    process = models.process(definition)
    assert process is not None, "the definitions of the machine are those of the models"
    return process


def encoded(variables: Mapping[str, Any]) -> Variables:
    """Variables as a command takes them. Raises TypeError for a value that JSON does not have."""
    return {name: msgspec.Raw(to_json(name, value)) for name, value in variables.items()}
