"""Items of batch operations: the command of each, and what its outcome means. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from vivero.core.partitions.keys import partition_of
from vivero.core.records.base import Command
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CancelInstance, ResolveIncident
from vivero.core.records.jobs import UpdateJob
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.core.records.modifications import SOURCE_PARENT, ModifyInstance, MoveInstruction
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.engine.appender.calls import Append
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import DEPLOYED_RESOURCES, AuditRecord
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.retention import history
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    DELETE_DECISION_INSTANCE,
    DELETE_PROCESS_INSTANCE,
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    UPDATE_JOB,
    Item,
    ItemEnd,
    Operation,
)

RETRIES = 1
"""Retries that a job without any gets when its incident is resolved."""

AUDITED: Mapping[str, tuple[str, str]] = {
    CANCEL_PROCESS_INSTANCE: ("PROCESS_INSTANCE", "CANCEL"),
    DELETE_PROCESS_INSTANCE: ("PROCESS_INSTANCE", "DELETE"),
    DELETE_DECISION_INSTANCE: ("DECISION", "DELETE"),
    MIGRATE_PROCESS_INSTANCE: ("PROCESS_INSTANCE", "MIGRATE"),
    MODIFY_PROCESS_INSTANCE: ("PROCESS_INSTANCE", "MODIFY"),
    SUSPEND_PROCESS_INSTANCE: ("PROCESS_INSTANCE", "SUSPEND"),
    RESUME_PROCESS_INSTANCE: ("PROCESS_INSTANCE", "RESUME"),
    RESOLVE_INCIDENT: ("INCIDENT", "RESOLVE"),
    UPDATE_JOB: ("JOB", "UPDATE"),
}
"""Type of the batch → entity and operation in the audit log."""


class Needed(NamedTuple):
    """The permissions that the creator of a batch needs for each item: to change it, and to read it."""

    action: str
    reading: str = "READ_PROCESS_INSTANCE"
    resource: str = "PROCESS_DEFINITION"


NEEDED: Mapping[str, Needed] = {
    CANCEL_PROCESS_INSTANCE: Needed("CANCEL_PROCESS_INSTANCE"),
    DELETE_PROCESS_INSTANCE: Needed("DELETE_PROCESS_INSTANCE"),
    DELETE_DECISION_INSTANCE: Needed("DELETE_DECISION_INSTANCE", "READ_DECISION_INSTANCE", "DECISION_DEFINITION"),
    MIGRATE_PROCESS_INSTANCE: Needed("UPDATE_PROCESS_INSTANCE"),
    MODIFY_PROCESS_INSTANCE: Needed("MODIFY_PROCESS_INSTANCE"),
    SUSPEND_PROCESS_INSTANCE: Needed("SUSPEND_PROCESS_INSTANCE"),
    RESUME_PROCESS_INSTANCE: Needed("SUSPEND_PROCESS_INSTANCE"),
    RESOLVE_INCIDENT: Needed("UPDATE_PROCESS_INSTANCE"),
    UPDATE_JOB: Needed("UPDATE_PROCESS_INSTANCE"),
}
"""Type of the batch → the permissions."""


class MigrationPlan(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The plan of a batch that migrates instances: the key of the target, (source, target) ids, and the same of called
    instances.
    """

    target: int
    mappings: tuple[tuple[str, str], ...]
    called: tuple[CalledMigration, ...] = ()

    def command(self, key: int) -> Command:
        """The command of an item. It leaves an instance alone that has the target already."""
        return MigrateInstance(key, self.target, self.mappings, unless_there=True, called=self.called)


class ModificationPlan(msgspec.Struct, frozen=True, gc=False):
    """The plan of a batch that modifies instances: (source, target) ids of elements."""

    moves: tuple[tuple[str, str], ...]

    def command(self, key: int) -> Command:
        """The command of an item. Targets begin in the scopes of their sources."""
        moves = tuple(MoveInstruction(target, source, scope_type=SOURCE_PARENT) for source, target in self.moves)
        return ModifyInstance(key, move=moves, skip_absent=True)


class SuspensionPlan(msgspec.Struct, frozen=True, gc=False):
    """The plan of a batch that suspends instances for a reason."""

    reason: str

    def command(self, key: int) -> Command:
        """The command of an item."""
        return SuspendInstance(key, reason=self.reason)


class JobUpdatePlan(msgspec.Struct, frozen=True, gc=False):
    """The plan of a batch that updates jobs: what changes. A lease ends `timeout_ms` after the item's turn."""

    retries: int | None = None
    priority: int | None = None
    timeout_ms: int | None = None

    def command(self, key: int) -> Command:
        """The command of an item."""
        return UpdateJob(key, self.retries, self.priority, self.timeout_ms)


Plan = MigrationPlan | ModificationPlan | SuspensionPlan | JobUpdatePlan
PLANS: Mapping[str, type[Plan]] = {
    MIGRATE_PROCESS_INSTANCE: MigrationPlan,
    MODIFY_PROCESS_INSTANCE: ModificationPlan,
    SUSPEND_PROCESS_INSTANCE: SuspensionPlan,
    UPDATE_JOB: JobUpdatePlan,
}
"""Type of the batch → the type of its plan. A suspension needs none."""


def command_of(type: str, key: int, plan: Plan | None = None) -> Command:
    """The command of an item."""
    command = _COMMANDS[type](key) if plan is None else plan.command(key)
    return msgspec.structs.replace(command, by_program=True)


_COMMANDS: Mapping[str, Callable[[int], Command]] = {
    CANCEL_PROCESS_INSTANCE: CancelInstance,
    SUSPEND_PROCESS_INSTANCE: SuspendInstance,
    RESUME_PROCESS_INSTANCE: ResumeInstance,
    RESOLVE_INCIDENT: partial(ResolveIncident, retries=RETRIES),
}


def append_of(operation: Operation, item: Item, plan: Plan | None = None) -> Append:
    """The command of an item, as it is appended: with a key of its own, it happens once however often it is appended.

    The key begins with a space, which no client's key has.
    """
    return Append(
        command_of(operation.type, item.key, plan),
        item.tenant,
        item.key,
        (f" batch {operation.key} {item.key}", hashlib.sha256(operation.type.encode()).digest()),
        partition_of(item.key),
        audit=audit_log.encode(record_of(operation, item, plan.reason if isinstance(plan, SuspensionPlan) else None)),
    )


def record_of(operation: Operation, item: Item, reason: str | None = None) -> AuditRecord:
    """The record of an item's change: its actor is the creator of the batch, and has given the reason."""
    entity, action = AUDITED[operation.type]
    kind = operation.creator.kind
    return AuditRecord(
        "CLIENT" if kind == "TOKEN" else kind,
        operation.creator.id,
        DEPLOYED_RESOURCES,
        entity,
        action,
        key=item.key,
        description=f"batch operation {operation.key}" + ("" if reason is None else f": {reason}"),
        tenant_id=item.tenant,
        batch_operation_key=operation.key,
        batch_operation_type=operation.type,
        actor_provider=operation.creator.provider,
    )


def end_of(item: Item, outcome: CommandOutcome) -> ItemEnd:
    """The end of an item. It is skipped, and does not fail, if its subject is gone, or if nothing is to be changed."""
    rejection = outcome.rejection
    if rejection is None:
        return ItemEnd(item.key, "COMPLETED")
    return ItemEnd(item.key, end_state(rejection), error_of(rejection))


def end_state(rejection: Rejection) -> str:
    """The state of an item whose command was rejected."""
    skipped = rejection.moot or rejection.code is RejectionCode.NOT_FOUND
    return "SKIPPED" if skipped else "FAILED"


def end_of_tree(key: int, verdict: str) -> ItemEnd:
    """The end of the deletion of an instance, which needs no command. An instance that is gone already is skipped."""
    if verdict == history.DELETED:
        return ItemEnd(key, "COMPLETED")
    if verdict == history.UNKNOWN:
        return ItemEnd(key, "SKIPPED", f"NOT_FOUND: there is no process instance with key '{key}'")
    return ItemEnd(key, "FAILED", f"INVALID_STATE: {history.why_not(key, key, verdict)}")


def end_of_evaluation(key: int, deleted: bool | None) -> ItemEnd:
    """The end of the deletion of an evaluation. `deleted`: None, it is gone; False, the creator may not delete it."""
    if deleted is None:
        return ItemEnd(key, "SKIPPED", f"NOT_FOUND: there is no decision evaluation with key '{key}'")
    return ItemEnd(key, "COMPLETED") if deleted else denied(DELETE_DECISION_INSTANCE, key)


def error_of(rejection: Rejection) -> str:
    """The error of an item whose command was rejected."""
    return f"{rejection.code}: {rejection.reason}"


def denied(type: str, key: int) -> ItemEnd:
    """The end of an item that the creator of the batch may no longer change."""
    action, _, resource = NEEDED[type]
    return ItemEnd(key, "FAILED", f"FORBIDDEN: Unauthorized to perform operation '{action}' on resource '{resource}'")
