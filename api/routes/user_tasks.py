"""User tasks: read, search, assign, update, complete; their forms and variables."""

from __future__ import annotations

from typing import Any

from vivero.api.access.needs import UPDATE_TASK
from vivero.api.access.scopes import require_by_key
from vivero.api.commands import submission
from vivero.api.computing.large_bodies import optional_body_of, variables_of
from vivero.api.http.decoding import Body, Violations, decode, decode_optional, decoder
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.job_reports.task_changes import UserTaskChangeset, changes_of
from vivero.api.reading import read_of
from vivero.api.search.exports import exporting
from vivero.api.search.search_requests import getting, prepare, run, searching
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import NAME_BYTES
from vivero.core.records.user_tasks import (
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    UpdateUserTask,
)
from vivero.storage.reads import single_reads
from vivero.storage.search.resources import Resource
from vivero.storage.search.user_tasks import USER_TASKS, effective_variables, variables_seen

get = getting(USER_TASKS, "userTaskKey")
search = searching(USER_TASKS)
export = exporting(USER_TASKS, "user-tasks")

MAX_ACTION = 1000


class AssignmentBody(Body, frozen=True):
    assignee: str | None = None
    allow_override: bool | None = None
    action: str | None = None


class UserTaskCompletionBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    action: str | None = None


class UserTaskUpdateBody(Body, frozen=True):
    changeset: UserTaskChangeset | None = None
    action: str | None = None


_assignment_decoder = decoder(AssignmentBody)
_completion_decoder = decoder(UserTaskCompletionBody)
_update_decoder = decoder(UserTaskUpdateBody)


async def assign(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/assignment: assign a task. With `allowOverride` false, only if it has no assignee.

    The permission to claim is enough for callers that assign a task without an assignee to themselves.
    """
    key = request.key("userTaskKey")
    body = decode(request, _assignment_decoder, services.settings)
    found = Violations()
    found.require("assignee", body.assignee and body.assignee.strip())
    found.largest("assignee", body.assignee, NAME_BYTES)
    found.longest("action", body.action, MAX_ACTION)
    found.check()
    assignee, claims = body.assignee or "", body.allow_override is False
    if not claims or (request.caller.kind, request.caller.id) != ("USER", assignee):
        await require_by_key(request, services, UPDATE_TASK)
    if claims:
        claim = ClaimUserTask(key, assignee, body.action or "claim")
        return await submission.command(request, services, claim, key)
    return await submission.command(request, services, AssignUserTask(key, assignee, body.action or "assign"), key)


async def unassign(request: Request, services: Services) -> Response:
    """DELETE /v2/user-tasks/{key}/assignee: remove the assignee."""
    key = request.key("userTaskKey")
    return await submission.command(request, services, AssignUserTask(key, None, "unassign"), key, content=b"")


async def update(request: Request, services: Services) -> Response:
    """PATCH /v2/user-tasks/{key}: change dates, candidates and priority."""
    key = request.key("userTaskKey")
    body = decode_optional(request, _update_decoder, services.settings)
    found = Violations()
    changes = changes_of(body.changeset or UserTaskChangeset(), found)
    found.longest("action", body.action, MAX_ACTION)
    if not changes and not body.action:
        found.add(
            'No update data provided. Provide at least an "action" or a non-null value for a supported attribute in '
            'the "changeset"'
        )
    found.check()
    return await submission.command(request, services, UpdateUserTask(key, changes, body.action or "update"), key)


async def complete(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/completion: complete a task, with variables for the process."""
    key = request.key("userTaskKey")
    body = await optional_body_of(request, services, _completion_decoder)
    found = Violations()
    found.longest("action", body.action, MAX_ACTION)
    found.check()
    variables = variables_of(services, body.variables)
    command = CompleteUserTask(key, variables, body.action or "complete")
    return await submission.command(request, services, command, key)


async def variables(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/variables/search: those of all scopes around the task, also hidden ones."""
    return await _variables(request, services, variables_seen(request.flag("truncateValues", True)))


async def effective(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/effective-variables/search: for each name, the one that the task sees."""
    return await _variables(request, services, effective_variables(request.flag("truncateValues", True)))


async def _variables(request: Request, services: Services, resource: Resource) -> Response:
    key = request.key("userTaskKey")
    prepared = prepare(request, resource, services.settings, ("user task", key))
    await must_exist(request, services, key)
    return await run(request, services, prepared)


async def must_exist(request: Request, services: Services, key: int) -> None:
    """Raise Problem 404 for an unknown task."""
    if not await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.user_task_exists(connection, key, tenants)
    ):
        raise not_found(USER_TASKS.name, key)
