"""Background jobs: executions and their types. Camunda's API has no such resource."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec

from vivero.api.access.audit import changing
from vivero.api.http.decoding import Body, as_epoch_ms, decode, decode_optional, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response, no_content
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.engine.connectors.outbox.settings import TYPE as OUTBOX
from vivero.engine.jobs.definitions import CHORES, MAX_NAME
from vivero.engine.jobs.traces import stored_form
from vivero.engine.tracing import w3c
from vivero.engine.tracing.current import CURRENT
from vivero.storage.background import event_consumers, job_executions
from vivero.storage.background.event_consumers import ConsumerPlace
from vivero.storage.background.job_executions import ExecutionView, TypeView
from vivero.storage.log import transaction_inbox
from vivero.storage.postgres.driver import Connection

STATES = ("pending", "running", "failed")
DELETABLE = ("failed", "pending")
KINDS = {"user": False, "chore": True, "any": None}
"""Jobs of users, the program's own chores, or both."""
MAX_LIMIT = 1000
MAX_DELETED = 500
"""Executions that one request deletes, so that no statement takes long."""

Change = Callable[[Connection, ExecutionView], Awaitable[bool]]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]


class AddBody(Body, frozen=True):
    type: Name
    payload: msgspec.Raw = msgspec.Raw(b"null")
    execute_at: str | None = None
    unique_key: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)] | None = None
    allow_unknown_type: bool = False


class ExecutionFilter(Body, frozen=True):
    type: str | None = None
    state: str | None = None
    kind: str | None = None


class Selection(Body, frozen=True):
    type: Name | None = None
    state: str | None = None
    failed_before: str | None = None


class ExecutionDeletionBody(Body, frozen=True):
    filter: Selection


class ExecutionPage(Body, frozen=True):
    from_: Annotated[int, msgspec.Meta(ge=0, le=10**9)] = msgspec.field(name="from", default=0)
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 100


class ExecutionSearchBody(Body, frozen=True):
    filter: ExecutionFilter = ExecutionFilter()
    page: ExecutionPage = ExecutionPage()


_add_decoder = decoder(AddBody)
_search_decoder = decoder(ExecutionSearchBody)
_deletion_decoder = decoder(ExecutionDeletionBody)


async def add(request: Request, services: Services) -> Response:
    """POST /background-jobs {type, payload?, executeAt?, uniqueKey?, allowUnknownType?}: add an execution.

    201 with its id. 400 if no node runs the type, or has run it lately. With `allowUnknownType` it waits for a node.
    400 also if the type has a schedule or follows events: such an execution would run for ever.
    200 with the id of the other if an execution with the type and the unique key waits or runs.
    """
    body = decode(request, _add_decoder, services.settings)
    if body.type.startswith(CHORES):
        raise invalid_argument(f"Names that begin with '{CHORES}' belong to the program's own chores")
    if not body.allow_unknown_type:
        known = await read(services, job_executions.known_types)
        _check_known(body.type, known, "none has lately. With allowUnknownType (--allow-unknown) it waits for one")
    if await read(services, lambda connection: job_executions.repeats(connection, body.type)):
        raise invalid_argument(f"'{body.type}' has a schedule or follows events: run its execution, and add no other")
    id, payload = str(uuid4()), bytes(body.payload).decode()
    due_ms = None if body.execute_at is None else as_epoch_ms(body.execute_at, "executeAt")
    async with changing(request, services, id) as connection:
        made = await job_executions.add(
            connection,
            id,
            body.type,
            None if payload == "null" else payload,
            due_ms,
            _trace_context(request),
            body.unique_key,
        )
    return json_response({"id": made}, status=201 if made == id else 200)


async def search(request: Request, services: Services) -> Response:
    """POST /background-jobs/search {filter?: {type, state, kind}, page?: {from, limit}}: all but what succeeded.

    Without a type and a kind, the program's own chores are left out.
    """
    body = decode_optional(request, _search_decoder, services.settings)
    if body.filter.state not in (None, *STATES):
        raise unexpected_value(body.filter.state, "filter.state", STATES)
    chores = _chores(body.filter.kind or ("user" if body.filter.type is None else "any"), "filter.kind")
    found, total = await read(
        services,
        lambda connection: job_executions.search(
            connection, None, body.filter.type, body.filter.state, body.page.from_, body.page.limit, chores
        ),
    )
    return json_response({"items": [_execution(each) for each in found], "page": {"totalItems": total}})


async def get(request: Request, services: Services) -> Response:
    """GET /background-jobs/{id}: one execution. One that has succeeded is gone: 404."""
    return json_response(_execution(await _found(request, services)))


async def run_now(request: Request, services: Services) -> Response:
    """POST /background-jobs/{id}/run: a pending execution runs now. 409 if it is not pending."""
    return await _change(request, services, job_executions.run_now, "is due already, or is not pending")


async def retry(request: Request, services: Services) -> Response:
    """POST /background-jobs/{id}/retry: a failed execution gets all of its attempts again. 409 if it has not failed.

    409 also if another execution of its type has its unique key.
    """
    return await _change(request, services, job_executions.retry, "has not failed, or another one has its unique key")


async def cancel(request: Request, services: Services) -> Response:
    """POST /background-jobs/{id}/cancel: a run ends as failed, without another attempt. 409 if it does not run."""
    return await _change(
        request, services, job_executions.cancel, "does not run, or belongs to a schedule or a consumer"
    )


async def delete(request: Request, services: Services) -> Response:
    """DELETE /background-jobs/{id}: 409 for one that runs, and for the one of a schedule or a consumer."""
    return await _change(request, services, job_executions.delete, "runs, or belongs to a schedule or a consumer")


async def delete_all(request: Request, services: Services) -> Response:
    """POST /background-jobs/deletion {filter: {type?, state?, failedBefore?}}: delete what has failed, or what waits.

    200 with how many were deleted, and `more` if others match: repeat the request then. The state is `failed` if it
    is not given.
    Running executions, schedules and consumers stay. Executions that fail or are added after the request stay, too.
    """
    chosen = decode(request, _deletion_decoder, services.settings).filter
    state = _state_to_delete(chosen)
    before_ms = None if chosen.failed_before is None else as_epoch_ms(chosen.failed_before, "filter.failedBefore")
    async with changing(request, services) as connection:
        if before_ms is None:
            before_ms = await job_executions.now_ms(connection) + 1
        work = job_executions.delete_failed if state == "failed" else job_executions.delete_pending
        deleted = await work(connection, chosen.type, before_ms, MAX_DELETED)
    return json_response({"deleted": deleted, "more": deleted == MAX_DELETED})


def _state_to_delete(chosen: Selection) -> str:
    if (chosen.type, chosen.state, chosen.failed_before) == (None, None, None):
        raise invalid_argument('Say what to delete: a type, a time, or everything that has failed: {"state": "failed"}')
    state = chosen.state or "failed"
    if state not in DELETABLE:
        raise unexpected_value(state, "filter.state", DELETABLE)
    if state == "pending" and (chosen.type is None or chosen.failed_before is not None):
        raise invalid_argument("Executions that wait are deleted by their type, and without failedBefore")
    return state


async def list_types(request: Request, services: Services) -> Response:
    """GET /background-job-types?kind=user|chore|any: types that have executions, are paused, or are known to a node.

    Each with counts. Without a kind, the program's own chores are left out.
    """
    chores = _chores(request.query.get("kind", "user"), "kind")
    found = await read(services, job_executions.types)
    items = [_type(each) for each in found if chores is None or each.type.startswith(CHORES) == chores]
    return json_response({"items": items})


def _chores(kind: str, name: str) -> bool | None:
    if kind not in KINDS:
        raise unexpected_value(kind, name, tuple(KINDS))
    return KINDS[kind]


async def list_consumers(_request: Request, services: Services) -> Response:
    """GET /background-job-consumers: how far each consumer of events is in each partition."""
    return json_response({"items": [_consumer(each) for each in await read(services, event_consumers.places)]})


async def drop_consumer(request: Request, services: Services) -> Response:
    """DELETE /background-job-consumers/{type}: forget a consumer that no node runs any more. 409 while one does.

    If a node runs it again, it begins like a new one. What the outbox has not delivered goes, too.
    """
    name = request.params["type"]
    found = [each for each in await read(services, event_consumers.places) if each.consumer == name]
    if not found:
        raise not_found("Consumer of events", name, by="type")
    async with changing(request, services) as connection:
        if not await event_consumers.drop(connection, found, deliveries=name == OUTBOX):
            text = f"Consumer of events '{name}' still runs on a node. Stop it there, and try again a minute later"
            raise Problem(409, "INVALID_STATE", text)
    return no_content()


async def pause(request: Request, services: Services) -> Response:
    """PUT /background-job-types/{type}/pause: no node begins a run of the type. Runs go on."""
    return await _set_paused(request, services, True)


async def resume(request: Request, services: Services) -> Response:
    """DELETE /background-job-types/{type}/pause."""
    return await _set_paused(request, services, False)


async def _set_paused(request: Request, services: Services, paused: bool) -> Response:
    name = request.params["type"]
    if not 1 <= len(name) <= MAX_NAME or "\0" in name:
        raise invalid_argument(f"The name of a job has 1 to {MAX_NAME} characters")
    known = {*await read(services, job_executions.known_types)}
    known |= {each.type for each in await read(services, job_executions.types)}
    _check_known(name, sorted(known), "no execution has it")
    async with changing(request, services) as connection:
        await job_executions.set_paused(connection, name, paused)
    return no_content()


async def _change(request: Request, services: Services, change: Change, otherwise: str) -> Response:
    found = await _found(request, services)
    async with changing(request, services) as connection:
        if not await change(connection, found):
            raise Problem(409, "INVALID_STATE", f"Background job '{found.id}' {otherwise}")
    return no_content()


def _check_known(type: str, known: Sequence[str], otherwise: str) -> None:
    """Refuse a type that no node runs: mostly it is misspelt.

    Raises:
        Problem: 400 with the most similar type.
    """
    if type not in known:
        near = "".join(f" (did you mean '{name}'?)" for name in get_close_matches(type, known, 1))
        raise invalid_argument(f"No node runs background jobs of type '{type}'{near}, and {otherwise}")


async def _found(request: Request, services: Services) -> ExecutionView:
    text = request.params["id"]
    try:
        id = str(UUID(text))
    except ValueError as error:
        raise invalid_argument("The id of a background job is a UUID") from error
    found, _ = await read(services, lambda connection: job_executions.search(connection, id))
    if not found:
        raise not_found("Background job", id, by="id")
    return found[0]


async def queued(request: Request, services: Services) -> Response:
    """GET /queued-commands/{id}: the outcome of what a client has queued in its own transaction.

    404 before the commit, and a day after the outcome.
    """
    id = request.key("id")
    found = await read(services, lambda connection: transaction_inbox.outcome(connection, id))
    if found is None:
        raise not_found("Queued command", id, by="id")
    return json_response(found.document(id))


def _trace_context(request: Request) -> str | None:
    """The W3C trace context of the request, for the execution."""
    return stored_form(CURRENT.get() or w3c.from_headers(request.headers))


def _execution(each: ExecutionView) -> dict[str, Any]:
    return {
        "id": each.id,
        "type": each.type,
        "state": each.state,
        "attempts": each.attempt,
        "executeAt": iso_time(each.due_ms),
        "lastHeartbeat": None if each.alive_ms is None else iso_time(each.alive_ms),
        "created": iso_time(each.created_ms),
        "failed": None if each.failed_ms is None else iso_time(each.failed_ms),
        "payload": None if each.payload is None else msgspec.Raw(each.payload.encode()),
        "error": each.error,
        "nodeId": each.node,
        "schedule": each.schedule,
        "partitionId": each.partition,
        "uniqueKey": each.unique_key,
    }


def _consumer(each: ConsumerPlace) -> dict[str, Any]:
    return {
        "type": each.consumer,
        "partitionId": each.partition,
        "position": str(each.position),
        "behind": each.behind,
        "acknowledged": iso_time(each.acknowledged_ms),
    }


def _type(each: TypeView) -> dict[str, Any]:
    counts = {"pending": each.pending, "running": each.running, "failed": each.failed}
    return {"type": each.type, **counts, "schedule": each.schedule, "paused": each.paused, "nodes": each.nodes}
