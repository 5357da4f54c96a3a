"""Undo of operations in the library: the offer that the result of an operation has (docs/undo.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vivero.core.records.base import Command, Event
from vivero.core.records.business_ids import BusinessIdAssigned
from vivero.core.records.suspensions import InstanceSuspended
from vivero.core.snapshots.format import DefinitionEntry
from vivero.core.snapshots.writer import definition_entry
from vivero.core.state.instance_tree import Instance
from vivero.core.undos.inverse import NotExact, Operation, Surroundings, instances_of, inverse_of, operation_of
from vivero.library.machine import Machine


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """Whether an operation can be taken back, as long as the instance has version `version`. `reason`: why not."""

    version: int
    operation: Operation
    reason: str | None
    jobs: tuple[int, ...]
    """Jobs that no worker may have got: the caller knows, because jobs have no leases here."""
    command: Command | None
    """The inverse of the operation; None: there is a `reason`."""
    definitions: tuple[DefinitionEntry, ...] = ()
    """The process definitions before the operation: their keys can come from a server."""

    @property
    def offered(self) -> bool:
        return self.command is not None


@dataclass(frozen=True, slots=True)
class Before:
    """The state that an undo depends on, before an operation. `length`: of the machine's log."""

    length: int
    earlier: tuple[Event, ...]
    """The events before it that an undo looks for."""
    definitions: tuple[DefinitionEntry, ...]


def before_operation(machine: Machine) -> Before:
    """The state before the next command."""
    live = [one for one in machine.state.elements.values() if isinstance(one, Instance)]
    suspended = [one for one in live if one.suspended_at is not None]
    assigned = [BusinessIdAssigned(one.key, one.business_id) for one in live if one.business_id is not None]
    earlier = (*(InstanceSuspended(one.key, one.suspended_reason) for one in suspended), *assigned)
    known = machine.state.catalogue.definitions
    definitions = tuple(definition_entry(known[key]) for key in sorted({one.definition_key for one in live}))
    return Before(len(machine.engine.log), earlier, definitions)


def offer_of(machine: Machine, key: int, before: Before, version: int) -> UndoOffer | None:
    """The offer after an operation on the process instance with this key; None: it was another command.

    `version`: of the snapshot after the operation.
    """
    events = _events_since(machine, before.length)
    operation = operation_of(events, key)
    if operation is None:
        return None
    if not machine.state.trees:
        return UndoOffer(version, operation, "the process instance has ended", (), None)
    try:
        found = inverse_of(operation, events, key, _around(machine, instances_of(events), before.earlier))
    except NotExact as error:
        return UndoOffer(version, operation, str(error), (), None)
    jobs = found.untaken + found.never_taken
    return UndoOffer(version, operation, None, jobs, found.command, before.definitions)


def _events_since(machine: Machine, length: int) -> list[Event]:
    """The events of the tree. Rows without a root are about messages and signals."""
    rows = [row for logged in machine.engine.log[length:] for row in logged.handled if row.root is not None]
    return [event for row in rows for event in row.events]


def _around(machine: Machine, concerned: Sequence[int], earlier: Sequence[Event]) -> Surroundings:
    jobs = (job.key for job in machine.state.jobs.values() if job.element.instance.key in concerned)
    return Surroundings(tuple(sorted(jobs)), earlier)
