"""Undo of the latest operation on a process instance, while nothing else has happened (Vivero only, docs/undo.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vivero.api.access.needs import MODIFY_INSTANCE, SUSPEND_INSTANCE, UPDATE_INSTANCE
from vivero.api.access.scopes import require_by_key, require_processes
from vivero.api.callers import audited
from vivero.api.callers.audited import Audited
from vivero.api.callers.permissions import Permission
from vivero.api.commands import dry_runs, preconditions, submission
from vivero.api.http.decoding import Body, Int64, check_reference, decode_optional, decoder
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.commands.conditional_change import HAS_WORKER, conditional
from vivero.core.records.migrations import MigrateInstance
from vivero.core.undos.inverse import (
    HAS_HAPPENED,
    NO_OPERATION,
    REFUSED,
    NotExact,
    Operation,
    Undo,
    inverse_of,
    operation_of,
)
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads.latest_changes import (
    HAD_WORKER,
    HasEnded,
    LatestChange,
    job_with_worker,
    latest_change,
    taken_job,
)

NOT_LOGGED = "the event log does not have the latest change of its instance tree any more"
TOO_MUCH = "it has more rows than can be compared"


class UndoBody(Body, frozen=True):
    operation_reference: Int64 | None = None


class Kind(NamedTuple):
    """The permission to undo an operation, and the record of the undo in the audit log."""

    needs: Permission
    audited: Audited


KINDS: Mapping[Operation, Kind] = {
    Operation.MODIFY: Kind(MODIFY_INSTANCE, audited.MODIFY_INSTANCE),
    Operation.MIGRATE: Kind(UPDATE_INSTANCE, audited.MIGRATE_INSTANCE),
    Operation.SUSPEND: Kind(SUSPEND_INSTANCE, audited.RESUME_INSTANCE),
    Operation.RESUME: Kind(SUSPEND_INSTANCE, audited.SUSPEND_INSTANCE),
    Operation.ASSIGN_BUSINESS_ID: Kind(UPDATE_INSTANCE, audited.ASSIGN_BUSINESS_ID),
}


class Offer(NamedTuple):
    """The undo that is possible now, or the reason why there is none."""

    version: int
    operation: Operation | None
    undo: Undo | None
    reason: str | None


_decoder = decoder(UndoBody)


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/undo: whether an undo is offered, of which operation, and why not."""
    offer = await _offer_of(request, services)
    document = {
        "offered": offer.undo is not None,
        "operation": offer.operation,
        "version": offer.version,
        "reason": offer.reason,
    }
    return json_response(document, preconditions.entity_tag(offer.version))


async def undo(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/undo: take the latest operation back, or 409 with the reason why not.

    It needs the permission for the operation. Nothing may happen before it is handled: it names the version.
    With `dryRun` the answer shows what the undo would do.
    """
    key = request.key("processInstanceKey")
    check_reference(decode_optional(request, _decoder, services.settings).operation_reference)
    versions = preconditions.expected_versions(request)
    offer = await _offer_of(request, services)
    if offer.operation is not None:
        kind = KINDS[offer.operation]
        await require_by_key(request, services, kind.needs)
        request.audited = kind.audited if request.audited is not None else None
    if versions is not None and offer.version not in versions:
        detail = f"Expected to undo the latest operation on process instance with key '{key}' at another version"
        raise Problem(412, "PRECONDITION_FAILED", f"{detail}, but its version is {offer.version}")
    if offer.undo is None:
        raise _refused(key, offer.reason or NO_OPERATION)
    if isinstance(offer.undo.command, MigrateInstance):
        await require_processes(request, services, UPDATE_INSTANCE, _definitions(offer.undo.command))
    if dry_runs.is_asked(request):  # leases were read with the offer
        return await dry_runs.show(request, services, conditional(offer.undo.command, key, (offer.version,)), key)
    command = conditional(offer.undo.command, key, (offer.version,), offer.undo.untaken)
    try:
        submitted = await submission.submit(request, services, command, key)
    except Problem as problem:
        if problem.status == 412:
            raise _refused(key, HAS_HAPPENED) from problem
        raise
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    return no_content(submitted.position)


def _definitions(command: MigrateInstance) -> set[int]:
    """Those of the targets, and of the called instances."""
    return {command.definition_key, *(key for one in command.called for key in (one.source, one.definition_key))}


def _refused(key: int, reason: str) -> Problem:
    return Problem(409, "INVALID_STATE", REFUSED.format(key, reason))


async def _offer_of(request: Request, services: Services) -> Offer:
    key = request.key("processInstanceKey")

    async def query(connection: Connection, tenants: Tenants) -> Offer | None:
        change = await latest_change(connection, key, tenants)
        if change is None:
            return None
        offer = _offer(change, key)
        reason = None if offer.undo is None else await _taken(connection, offer.undo)
        return offer if reason is None else offer._replace(undo=None, reason=reason)

    try:
        offer = await read_of(services, request.tenants, query)
    except HasEnded:
        detail = REFUSED.format(key, "it has ended: neither a cancellation nor another end can be taken back")
        raise Problem(404, "NOT_FOUND", detail) from None
    if offer is None:
        raise Problem(404, "NOT_FOUND", REFUSED.format(key, "no process instance with this key is running"))
    return offer


async def _taken(connection: Connection, undo: Undo) -> str | None:
    """The reason why a job prevents the undo, if one does."""
    if (taken := await taken_job(connection, undo.untaken)) is not None:
        return HAS_WORKER.format(taken)
    if (had := await job_with_worker(connection, undo.never_taken)) is not None:
        return HAD_WORKER.format(had)
    return None


def _offer(change: LatestChange, key: int) -> Offer:
    operation = operation_of(change.events, key)
    if not change.is_logged:
        return Offer(change.version, None, None, NOT_LOGGED)
    if operation is None:
        return Offer(change.version, None, None, NO_OPERATION)
    if not change.is_whole:
        return Offer(change.version, operation, None, TOO_MUCH)
    try:
        return Offer(change.version, operation, inverse_of(operation, change.events, key, change.around), None)
    except NotExact as error:
        return Offer(change.version, operation, None, str(error))
