"""Operations on a running instance, and their undo. All or nothing happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from vivero.core.migration.suggestions import suggest
from vivero.core.records.base import Command
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.modifications import (
    INFERRED,
    ActivateInstruction,
    ModifyInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import Instance
from vivero.core.undos.inverse import HAS_HAPPENED, NO_OPERATION, REFUSED
from vivero.library.calls import Document, encoded, process_of, restored, root_of
from vivero.library.machine import Machine, Rejected
from vivero.library.models import Models
from vivero.library.result import Result, result_of
from vivero.library.undos import UndoOffer, before_operation


def migrate(
    models: Models,
    snapshot: Document,
    mappings: Mapping[str, str] | None = None,
    *,
    process_id: str | None = None,
    version: int | None = None,
    now: datetime | None = None,
) -> Result:
    """Let the instance continue by another version, by default the newest one of its process.

    `mappings`: source id → target id of the active elements, and of others that are to stay; None: all that the
    server would suggest. `process_id` names another process.

    Raises:
        Rejected: the migration is refused; `problems` has all reasons. Or there is no such version.
    """
    machine = restored(models, snapshot, now)
    root = root_of(machine)
    target = _target(machine, process_id or root.process_id, version)
    if mappings is None:
        source = machine.state.catalogue.definitions[root.definition_key]
        suggested = suggest(process_of(models, source), process_of(models, target))
        mappings = {one.source: one.target for one in suggested.mappings}
    return _operated(machine, root, MigrateInstance(root.key, target.key, tuple(mappings.items())))


def _target(machine: Machine, process_id: str, version: int | None) -> Definition:
    family = machine.state.catalogue.families.get((machine.tenant, process_id), {})
    definition = family.get(max(family, default=0) if version is None else version)
    if definition is None:
        which = "" if version is None else f" in version {version}"
        reason = f"The models have no process '{process_id}'{which} to migrate to"
        raise Rejected(Rejection(RejectionCode.NOT_FOUND, reason))
    return definition


def modify(
    models: Models,
    snapshot: Document,
    *,
    activate: Iterable[str] = (),
    terminate: Iterable[str] = (),
    move: Mapping[str, str] = {},
    variables: Mapping[str, Any] = {},
    now: datetime | None = None,
) -> Result:
    """Activate, terminate and move elements, by their ids. `move`: source id → target id, for all active sources.

    `variables` of the process instance are set first, if something begins.

    Raises:
        Rejected: the modification is refused; `problems` has all reasons.
    """
    first = (VariableInstruction(encoded(variables)),) if variables else ()
    instructions = (
        tuple(ActivateInstruction(id, first) for id in activate),
        tuple(TerminateInstruction(element_id=id) for id in terminate),
        tuple(MoveInstruction(target, id, scope_type=INFERRED, variables=first) for id, target in move.items()),
    )
    return _operate_at_root(models, snapshot, now, lambda root: ModifyInstance(root, *instructions))


def suspend(
    models: Models,
    snapshot: Document,
    reason: str | None = None,
    *,
    include_called: bool = False,
    now: datetime | None = None,
) -> Result:
    """Stop the instance where it is; `include_called`: with those that it has called."""
    return _operate_at_root(models, snapshot, now, lambda root: SuspendInstance(root, include_called, reason))


def resume(models: Models, snapshot: Document, *, include_called: bool = False, now: datetime | None = None) -> Result:
    """Let a suspended instance go on; `include_called`: with suspended ones that it has called."""
    return _operate_at_root(models, snapshot, now, lambda root: ResumeInstance(root, include_called))


def undo(models: Models, snapshot: Document, offer: UndoOffer | None, *, now: datetime | None = None) -> Result:
    """Take the latest operation back, by the `undo` of its result. The undo can be taken back itself.

    Raises:
        Rejected: the result is not of an operation, the operation has no undo, or something has happened since.
    """
    known = () if offer is None else offer.definitions
    machine = restored(models, snapshot, now, known)
    root = root_of(machine)
    if offer is None:
        raise _not_undone(root, NO_OPERATION)
    if offer.command is None:
        raise _not_undone(root, str(offer.reason))
    if offer.version != machine.version:
        raise _not_undone(root, HAS_HAPPENED)
    return _operated(machine, root, offer.command)


def _not_undone(root: Instance, reason: str) -> Rejected:
    return Rejected(Rejection(RejectionCode.INVALID_STATE, REFUSED.format(root.key, reason)))


def _operate_at_root(
    models: Models, snapshot: Document, now: datetime | None, command_for: Callable[[int], Command]
) -> Result:
    """Do the operation with the key of the process instance."""
    machine = restored(models, snapshot, now)
    root = root_of(machine)
    return _operated(machine, root, command_for(root.key))


def _operated(machine: Machine, root: Instance, command: Command) -> Result:
    """Do the operation. The result says whether it can be taken back."""
    before = before_operation(machine)
    machine.run(command)
    return result_of(machine, (root.key, before))


def assign_business_id(models: Models, snapshot: Document, business_id: str, *, now: datetime | None = None) -> Result:
    """Give a business id to an instance that has none."""
    return _operate_at_root(models, snapshot, now, lambda root: AssignBusinessId(root, business_id))
