"""Batch operations: one change of everything that matches a filter; their progress, suspension and cancellation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec

from vivero.api.access import audit
from vivero.api.access.creators import bounds_of, creator_of
from vivero.api.commands import forecasts, submission
from vivero.api.http.decoding import Body, Int64, check_reference, decode_optional, decoder
from vivero.api.http.problems import Problem, not_found
from vivero.api.http.request import Request, parse_key
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.search.search_requests import getting, problem_of, searching
from vivero.api.services import Services
from vivero.engine.batch_operations.items import Plan
from vivero.storage.access import audit_log
from vivero.storage.reads import single_reads
from vivero.storage.search import candidates
from vivero.storage.search.batch_operations import BATCHES, ITEMS
from vivero.storage.search.candidates import DECISIONS_PATH, INCIDENTS_PATH, INSTANCES_PATH
from vivero.storage.search.problems import BadQuery
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    DELETE_DECISION_INSTANCE,
    DELETE_PROCESS_INSTANCE,
    OPEN_STATES,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    Created,
    NewOperation,
)

Handler = Callable[[Request, Services], Awaitable[Response]]

search, search_items = searching(BATCHES), searching(ITEMS)
_get = getting(BATCHES, "batchOperationKey")


async def get(request: Request, services: Services) -> Response:
    """GET /v2/batch-operations/{key}."""
    _key(request)
    return await _get(request, services)


def _key(request: Request) -> int:
    """The key in the path. The API documents it as any text: Problem 404 for one that is no key."""
    text = request.params["batchOperationKey"]
    key = parse_key(text)
    if key is None:
        raise not_found(BATCHES.name, text[:100])
    return key


TRIES = 5
"""Attempts at a change while other clients change the same batch."""


class BatchCreationBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    operation_reference: Int64 | None = None


class EmptyBody(Body, frozen=True):
    """The body, which has no properties."""


_creation_decoder, _empty_decoder = decoder(BatchCreationBody), decoder(EmptyBody)
_encode_filter = msgspec.json.Encoder(decimal_format="number").encode
_encode_plan = msgspec.json.Encoder().encode


def creating(type: str, resource: str) -> Handler:
    """A handler that creates a batch of a type, for what a filter of this resource selects."""

    async def create(request: Request, services: Services) -> Response:
        body = decode_optional(request, _creation_decoder, services.settings)
        check_reference(body.operation_reference)
        return await create_or_forecast(request, services, type, resource, body.filter or {})

    return create


cancel_instances = creating(CANCEL_PROCESS_INSTANCE, INSTANCES_PATH)
resume_instances = creating(RESUME_PROCESS_INSTANCE, INSTANCES_PATH)
delete_instances = creating(DELETE_PROCESS_INSTANCE, INSTANCES_PATH)
delete_decision_instances = creating(DELETE_DECISION_INSTANCE, DECISIONS_PATH)
resolve_incidents_of_instances = creating(RESOLVE_INCIDENT, INSTANCES_PATH)
resolve_incidents = creating(RESOLVE_INCIDENT, INCIDENTS_PATH)


async def resolve_incidents_of_instance(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/incident-resolution: a batch for the incidents of one instance."""
    key = request.key("processInstanceKey")
    decode_optional(request, _empty_decoder, services.settings)
    root = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.root_of_instance(connection, key, tenants)
    )
    if root is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    filter = {"processInstanceKey": str(key)}
    return await create_or_forecast(request, services, RESOLVE_INCIDENT, INCIDENTS_PATH, filter)


async def create_or_forecast(
    request: Request,
    services: Services,
    type: str,
    resource: str,
    filter: Mapping[str, Any],
    plan: Plan | None = None,
) -> Response:
    """Create a batch for what a filter selects, or with `dryRun` forecast what would become of its items.

    Raises Problem.
    """
    if request.flag("dryRun", False):
        try:
            return await forecasts.answer(request, services, type, resource, filter, plan)
        except BadQuery as error:
            raise problem_of(error) from error
    text = None if plan is None else _encode_plan(plan).decode()
    key = await create_for(request, services, type, resource, filter, plan=text)
    return json_response({"batchOperationKey": str(key), "batchOperationType": type})


async def create_for(
    request: Request,
    services: Services,
    type: str,
    resource: str,
    filter: Mapping[str, Any],
    *,
    is_subject: bool = True,
    plan: str | None = None,
) -> int:
    """Create a batch for what a filter selects; its key. `is_subject`: the request is about it. `plan`: JSON that the
    commands of its items need. Raises Problem."""
    try:
        candidates.check(type, resource, filter)
    except BadQuery as error:
        raise problem_of(error) from error
    key, sha = await submission.idempotency_of(request, services, None) or (f" {uuid4()}", b"")
    text = _encode_filter(filter).decode()
    new = NewOperation(
        type,
        resource,
        text,
        creator_of(request.caller),
        bounds_of(request.caller, request.tenants, type),
        key,
        sha,
        plan,
    )
    created = await _insert(request, services, new, is_subject)
    if not created.same_body:
        raise submission.key_was_used(None)
    return created.key


async def _insert(request: Request, services: Services, new: NewOperation, is_subject: bool) -> Created:
    async with services.reads.pool.connection() as connection, connection.transaction():
        created = await batch_operations.create(connection, new)
        record = audit.record_of(request, str(created.key) if is_subject else None)
        if record is not None and created.is_new:
            kind = {"batch_operation_key": created.key, "batch_operation_type": new.type}
            await audit_log.add(connection, msgspec.structs.replace(record, **kind))
        return created


# -- changes of a batch


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of a batch in one of the states `before`, to the state `after`. A resumed scan gives CREATED."""

    verb: str
    before: tuple[str, ...]
    after: str


SUSPEND = _Change("suspend", ("CREATED", "ACTIVE"), "SUSPENDED")
RESUME = _Change("resume", ("SUSPENDED",), "ACTIVE")
CANCEL = _Change("cancel", OPEN_STATES, "CANCELED")


def changing(change: _Change) -> Handler:
    """A handler that changes a batch. A repeated request, whose change is there already, changes nothing: 204."""

    async def handle(request: Request, services: Services) -> Response:
        key = _key(request)
        decode_optional(request, _empty_decoder, services.settings)
        for _ in range(TRIES):
            if await _changed(request, services, key, change):
                return no_content()
        raise Problem(503, "RESOURCE_EXHAUSTED", "Other requests change this batch operation; try again later")

    return handle


suspend, resume, cancel = changing(SUSPEND), changing(RESUME), changing(CANCEL)


async def _changed(request: Request, services: Services, key: int, change: _Change) -> bool:
    """Change a batch. False if another request changed it meanwhile. Raises Problem 404, 409."""
    found = await read_of(
        services, request.tenants, lambda connection, tenants: batch_operations.status(connection, key, tenants)
    )
    if found is None:
        raise not_found(BATCHES.name, key)
    after = change.after if found.scanned or change is not RESUME else "CREATED"
    if found.state == after or (change is RESUME and found.state in ("CREATED", "ACTIVE")):
        return True
    if found.state not in change.before:
        raise Problem(
            409,
            "INVALID_STATE",
            f"Expected to {change.verb} batch operation with key '{key}', but it is in state '{found.state}'",
        )
    async with services.reads.pool.connection() as connection, connection.transaction():
        changed = await batch_operations.change(connection, key, found, after)
        record = audit.record_of(request)
        if changed and record is not None:
            await audit_log.add(connection, msgspec.structs.replace(record, batch_operation_key=key))
    return changed
