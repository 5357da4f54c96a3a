"""Jobs: complete, fail, throw an error, update, search. `job_activation` activates them."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from vivero.api.commands import preconditions, submission
from vivero.api.computing.large_bodies import body_of, optional_body_of, variables_of
from vivero.api.http.decoding import (
    Body,
    Int32,
    Int64,
    Violations,
    as_int64,
    check_reference,
    decode,
    decoder,
)
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, no_content
from vivero.api.job_reports import reports
from vivero.api.routes import batch_operations, business_ids
from vivero.api.search.search_requests import searching
from vivero.api.services import Services
from vivero.core.records.jobs import UpdateJob
from vivero.engine.batch_operations.items import JobUpdatePlan
from vivero.storage.search.candidates import JOBS_PATH
from vivero.storage.search.jobs import JOBS
from vivero.storage.work import activation
from vivero.storage.work.activation import MAX_TIMEOUT_MS, Refusal
from vivero.storage.work.batch_operations import UPDATE_JOB

search = searching(JOBS)

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class JobChangeset(Body, frozen=True):
    retries: Int32 | None = None
    timeout: Int64 | None = None
    priority: Int32 | None = None


class JobUpdateBody(Body, frozen=True):
    changeset: JobChangeset | None = None
    operation_reference: Int64 | None = None
    job_lease_token: str | None = None


class BatchUpdateBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    changeset: JobChangeset | None = None
    operation_reference: Int64 | None = None


_update_decoder, _batch_decoder = decoder(JobUpdateBody), decoder(BatchUpdateBody)


async def complete(request: Request, services: Services) -> Response:
    """POST /v2/jobs/{key}/completion: complete a job, with variables, a business id for its process
    instance, and what its worker decided."""
    key = request.key("jobKey")
    body = await optional_body_of(request, services, reports.completion_decoder)
    found = Violations()
    business_ids.check(found, body.business_id)
    found.check()
    command = reports.completion(key, body, partial(variables_of, services), services.settings)
    return await submission.command(request, services, command, key)


async def fail(request: Request, services: Services) -> Response:
    """POST /v2/jobs/{key}/failure: fail a job. If retries remain, it is available again after the backoff."""
    key = request.key("jobKey")
    body = await optional_body_of(request, services, reports.failure_decoder)
    command = reports.failure(key, body, partial(variables_of, services))
    return await submission.command(request, services, command, key)


async def throw_error(request: Request, services: Services) -> Response:
    """POST /v2/jobs/{key}/error: throw a BPMN error, which the process may catch."""
    key = request.key("jobKey")
    body = await body_of(request, services, reports.error_decoder)
    command = reports.error(key, body, partial(variables_of, services))
    return await submission.command(request, services, command, key)


async def update(request: Request, services: Services) -> Response:
    """PATCH /v2/jobs/{key}: change retries and priority by a command, and the end of the lease without one."""
    key = request.key("jobKey")
    body = decode(request, _update_decoder, services.settings)
    check_reference(body.operation_reference)
    plan = _plan_of(body.changeset, Violations())
    if plan.timeout_ms is not None:
        if preconditions.expected_versions(request) is not None:  # leases are not a part of the tree
            raise invalid_argument("The timeout of a job has no condition If-Match. Nothing has happened")
        await _extend(request, services, key, plan.timeout_ms, reports.token(body.job_lease_token))
    if plan.retries is None and plan.priority is None:
        return no_content()
    return await submission.command(request, services, UpdateJob(key, plan.retries, plan.priority), key)


async def update_by_filter(request: Request, services: Services) -> Response:
    """POST /v2/jobs/batch-update: a batch that updates the open jobs of a filter."""
    body = decode(request, _batch_decoder, services.settings)
    check_reference(body.operation_reference)
    found = Violations()
    found.require("filter", body.filter)
    plan = _plan_of(body.changeset, found)
    return await batch_operations.create_or_forecast(request, services, UPDATE_JOB, JOBS_PATH, body.filter or {}, plan)


def _plan_of(changes: JobChangeset | None, found: Violations) -> JobUpdatePlan:
    """The changes that a request asks for. Raises Problem 400."""
    changes = changes or JobChangeset()
    timeout_ms = as_int64(changes.timeout, "changeset.timeout")
    if changes.retries is None and changes.priority is None and timeout_ms is None:
        found.add("At least one of [retries, timeout, priority] is required")
    found.at_least("retries", changes.retries, 1)
    found.at_least("timeout", timeout_ms, 1)
    found.check()
    return JobUpdatePlan(changes.retries, changes.priority, timeout_ms and min(timeout_ms, MAX_TIMEOUT_MS))


async def _extend(request: Request, services: Services, key: int, timeout_ms: int, token: str | None) -> None:
    """Change the end of the lease. Raises Problem 404, 409."""
    if token is not None and not _UUID.fullmatch(token):
        raise _not_extended(key, Refusal.OTHER_LEASE)
    async with services.reads.pool.connection() as connection:
        extended = await activation.extend(connection, key, timeout_ms, token, request.tenants)
    if isinstance(extended, Refusal):
        raise _not_extended(key, extended)
    services.jobs.long_polls.available(*extended, 1)  # it may end sooner than long polls expect


def _not_extended(key: int, refusal: Refusal) -> Problem:
    status, title, why = _REFUSALS[refusal]
    reason = f"Expected to update the timeout of job with key '{key}', but {why}"
    return Problem(status, title, f"Command 'UPDATE_TIMEOUT' rejected with code '{title}': {reason}")


_REFUSALS = {
    Refusal.NO_JOB: (404, "NOT_FOUND", "no such job was found"),
    Refusal.NOT_LEASED: (409, "INVALID_STATE", "it is not activated"),
    Refusal.OTHER_LEASE: (409, "INVALID_STATE", "it is leased to another worker"),
}
