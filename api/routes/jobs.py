"""Jobs: activate (with long polling), complete, fail, throw an error, update, search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
import trio

from api import commands
from api.decoding import (
    DEFAULT_TENANT,
    Body,
    Int32,
    Int64,
    Violations,
    as_int64,
    as_variables,
    check_reference,
    check_tenant,
    decode,
    decode_optional,
    decoder,
)
from api.job_board import Poller
from api.problems import Problem, invalid_argument, unexpected_value
from api.request import Request
from api.response import JSON, Response, no_content
from api.search import searching
from api.services import Services
from api.settings import ApiSettings
from engine.core.records import CompleteJob, FailJob, ThrowJobError, UpdateJob
from storage import activation
from storage.activation import MAX_TIMEOUT_MS, Lease, Refusal
from storage.errors import StorageError
from storage.searchable import JOBS

search = searching(JOBS)
log = structlog.get_logger(__name__)

MAX_NAME = 1000
"""Characters of a job type or a worker's name."""
MAX_TOKEN = 100
MAX_FETCHED = 1000
JOBS_A_READ = 50
"""Activated jobs are read so many at a time, so that the limit on the answer's size is not passed by much."""
GIVE_BACK_S = 5.0
TENANT_FILTERS = ("PROVIDED", "ASSIGNED")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


# --------------------------------------------------------------------------------------------------- activation


class ActivationBody(Body, frozen=True):
    type: str | None = None
    worker: str | None = None
    timeout: Int64 | None = None
    max_jobs_to_activate: Int64 | None = None
    fetch_variable: list[str] | None = None
    request_timeout: Int64 | None = None
    tenant_ids: list[str] | None = None
    tenant_filter: str | None = None
    with_lease: bool | None = None


_activation_decoder = decoder(ActivationBody)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker asks for; `until` (Trio's clock): how long it waits for the first job."""

    type: str
    worker: str
    timeout_ms: int
    limit: int
    names: list[str] | None
    with_token: bool
    until: float


@dataclass(frozen=True, slots=True)
class Given:
    """What it gets: jobs in JSON, and their leases."""

    jobs: Sequence[bytes] = ()
    leases: Sequence[Lease] = ()


async def activate(request: Request, services: Services) -> Response:
    """POST /v2/jobs/activation: the first available jobs of a type, as soon as there is one."""
    wanted = _wanted(decode(request, _activation_decoder, services.settings), services.settings)
    with services.job_board.register(wanted.type, DEFAULT_TENANT, wanted.limit) as poller:
        given = await _look(services, wanted, poller)
        while not given.jobs and await _wait(request, poller, wanted.until) and not poller.gone:
            given = await _look(services, wanted, poller)
    undelivered = partial(_give_back, services, given.leases) if given.leases else None
    return Response(200, b'{"jobs":[%b]}' % b",".join(given.jobs), (JSON,), undelivered)


def _wanted(body: ActivationBody, settings: ApiSettings) -> Wanted:
    timeout_ms = as_int64(body.timeout, "timeout")
    limit = as_int64(body.max_jobs_to_activate, "maxJobsToActivate")
    found = Violations()
    found.require("type", body.type)
    found.longest("type", body.type, MAX_NAME)
    found.longest("worker", body.worker, MAX_NAME)
    for name, number in (("timeout", timeout_ms), ("maxJobsToActivate", limit)):
        found.require(name, number)
        found.at_least(name, number, 1)
    if body.fetch_variable and len(body.fetch_variable) > MAX_FETCHED:
        found.add(f"The provided fetchVariable names are more than {MAX_FETCHED}")
    found.check()
    for tenant in body.tenant_ids or ():
        check_tenant(tenant, "Activate Jobs")
    if body.tenant_filter is not None and body.tenant_filter.upper() not in TENANT_FILTERS:
        raise unexpected_value(body.tenant_filter, "tenantFilter", TENANT_FILTERS)
    poll_ms = as_int64(body.request_timeout, "requestTimeout") or settings.poll_timeout_ms
    return Wanted(
        body.type or "",
        body.worker or "",
        timeout_ms or 0,
        min(limit or 0, settings.max_jobs),
        body.fetch_variable or None,
        body.with_lease or False,
        trio.current_time() + min(poll_ms / 1000, settings.max_wait_s),
    )


async def _wait(request: Request, poller: Poller, until: float) -> bool:
    """Wait for a reason to look; False if the time is over. A client that leaves is a reason to stop."""
    if until <= trio.current_time():
        return False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_watch, request, poller)
        found = await poller.wait(until)
        await trio.lowlevel.checkpoint()  # a client that left in the same moment is seen
        nursery.cancel_scope.cancel()
    return found


async def _watch(request: Request, poller: Poller) -> None:
    await request.disconnected()
    poller.leave()


async def _look(services: Services, wanted: Wanted, poller: Poller) -> Given:
    """One look into the database: lease what is there, and read it."""
    leases = await _lease(services, wanted, poller)
    if not leases:
        return Given()
    try:
        return await _read(services, wanted, leases)
    except BaseException:
        await _give_back(services, leases)
        raise


async def _lease(services: Services, wanted: Wanted, poller: Poller) -> list[Lease]:
    """Lease what is there; if nothing is, note when there may be."""
    poller.looking()
    async with services.pool.connection() as connection:
        # Leased to nobody they would be, if this were cancelled half-way. The call has its own deadline.
        with trio.CancelScope(shield=True):
            leases = await activation.activate(
                connection, wanted.type, DEFAULT_TENANT, wanted.limit, wanted.timeout_ms, wanted.worker
            )
        if leases:
            poller.found(len(leases), wanted.timeout_ms / 1000)
        elif poller.is_first:
            due_ms = await activation.next_available_ms(connection, wanted.type, DEFAULT_TENANT)
            poller.found_nothing(None if due_ms is None else due_ms / 1000)
    return leases


async def _read(services: Services, wanted: Wanted, leases: list[Lease]) -> Given:
    """The leased jobs with their variables, as many as one answer takes; the others are given back."""
    jobs: list[bytes] = []
    size = taken = 0
    async with services.pool.connection() as connection:
        while taken < len(leases) and size < services.settings.max_activation_bytes:
            some = leases[taken : taken + JOBS_A_READ]
            read = await activation.activated_jobs(connection, some, wanted.names, wanted.with_token)
            jobs += read
            size += sum(map(len, read))
            taken += len(some)
    if taken < len(leases):
        await _give_back(services, leases[taken:])
    return Given(jobs, leases[:taken])


async def _give_back(services: Services, leases: Sequence[Lease]) -> None:
    """Make jobs available again that did not reach their worker. If that fails, they are when their time is over."""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + GIVE_BACK_S):
        try:
            async with services.pool.connection() as connection:
                for type, tenant in await activation.release(connection, leases):
                    services.job_board.available(type, tenant, 1)
        except StorageError as error:
            log.warning("jobs could not be given back before their timeout", count=len(leases), error=str(error))


# ----------------------------------------------------------------------------------------------------- commands


class CompletionBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    business_id: str | None = None
    job_lease_token: str | None = None


class FailureBody(Body, frozen=True):
    retries: Int32 | None = None
    error_message: str | None = None
    retry_back_off: Int64 | None = None
    variables: dict[str, Any] | None = None
    job_lease_token: str | None = None


class ErrorBody(Body, frozen=True):
    error_code: str | None = None
    error_message: str | None = None
    variables: dict[str, Any] | None = None
    job_lease_token: str | None = None


class Changeset(Body, frozen=True):
    retries: Int32 | None = None
    timeout: Int64 | None = None
    priority: Int32 | None = None


class UpdateBody(Body, frozen=True):
    changeset: Changeset | None = None
    operation_reference: Int64 | None = None
    job_lease_token: str | None = None


_completion_decoder = decoder(CompletionBody)
_failure_decoder = decoder(FailureBody)
_error_decoder = decoder(ErrorBody)
_update_decoder = decoder(UpdateBody)


async def complete(request: Request, services: Services) -> Response:
    """POST /v2/jobs/{key}/completion: the work is done; its variables go to the process."""
    key = request.key("jobKey")
    body = decode_optional(request, _completion_decoder, services.settings)
    if body.result is not None:
        raise invalid_argument("Results of listeners and ad-hoc sub-processes (result) are not supported")
    if body.business_id is not None:
        raise invalid_argument("Assigning a business id with a job (businessId) is not supported")
    variables = as_variables(body.variables, services.settings)
    return await commands.command(request, services, CompleteJob(key, variables, _token(body.job_lease_token)), key)


async def fail(request: Request, services: Services) -> Response:
    """POST /v2/jobs/{key}/failure: it did not work; with retries left it will be tried again after the backoff."""
    key = request.key("jobKey")
    body = decode_optional(request, _failure_decoder, services.settings)
    backoff_ms = as_int64(body.retry_back_off, "retryBackOff") or 0
    found = Violations()
    found.at_least("retryBackOff", backoff_ms, 0)
    found.check()
    command = FailJob(
        key,
        max(body.retries or 0, 0),
        min(backoff_ms, MAX_TIMEOUT_MS),
        body.error_message,
        as_variables(body.variables, services.settings),
        _token(body.job_lease_token),
    )
    return await commands.command(request, services, command, key)


async def throw_error(request: Request, services: Services) -> Response:
    """POST /v2/jobs/{key}/error: an error of the business, for the process to catch."""
    key = request.key("jobKey")
    body = decode(request, _error_decoder, services.settings)
    found = Violations()
    found.require("errorCode", body.error_code)
    found.check()
    command = ThrowJobError(
        key,
        body.error_code or "",
        body.error_message,
        as_variables(body.variables, services.settings),
        _token(body.job_lease_token),
    )
    return await commands.command(request, services, command, key)


async def update(request: Request, services: Services) -> Response:
    """PATCH /v2/jobs/{key}: other retries or another priority (a command), or another end of its lease (none)."""
    key = request.key("jobKey")
    body = decode(request, _update_decoder, services.settings)
    check_reference(body.operation_reference)
    changes = body.changeset or Changeset()
    timeout_ms = as_int64(changes.timeout, "changeset.timeout")
    found = Violations()
    if changes.retries is None and changes.priority is None and timeout_ms is None:
        found.add("At least one of [retries, timeout, priority] is required")
    found.at_least("retries", changes.retries, 1)
    found.at_least("timeout", timeout_ms, 1)
    found.check()
    if timeout_ms is not None:
        await _extend(services, key, timeout_ms, _token(body.job_lease_token))
    if changes.retries is None and changes.priority is None:
        return no_content()
    return await commands.command(request, services, UpdateJob(key, changes.retries, changes.priority), key)


async def _extend(services: Services, key: int, timeout_ms: int, token: str | None) -> None:
    """Let the lease end at another time. Raises Problem 404, 409."""
    if token is not None and not _UUID.fullmatch(token):
        raise _not_extended(key, Refusal.OTHER_LEASE)
    async with services.pool.connection() as connection:
        extended = await activation.extend(connection, key, timeout_ms, token)
    if isinstance(extended, Refusal):
        raise _not_extended(key, extended)
    services.job_board.available(*extended, 1)  # it may end sooner than whoever waits for its end believes


def _not_extended(key: int, refusal: Refusal) -> Problem:
    status, title, why = _REFUSALS[refusal]
    reason = f"Expected to update the timeout of job with key '{key}', but {why}"
    return Problem(status, title, f"Command 'UPDATE_TIMEOUT' rejected with code '{title}': {reason}")


_REFUSALS = {
    Refusal.NOT_LEASED: (404, "NOT_FOUND", "no such job is activated"),
    Refusal.OTHER_LEASE: (409, "INVALID_STATE", "it is leased to another worker"),
}


def _token(token: str | None) -> str | None:
    found = Violations()
    found.longest("jobLeaseToken", token, MAX_TOKEN)
    found.check()
    return token
