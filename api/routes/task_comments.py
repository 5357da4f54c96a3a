"""Comments on user tasks. Camunda's API has no such resource."""

from __future__ import annotations

from vivero.api.access.audit import changing
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response
from vivero.api.reading import conditions
from vivero.api.routes.user_tasks import must_exist
from vivero.api.search.search_requests import prepare, run
from vivero.api.services import Services
from vivero.storage.search.task_comments import USER_TASK_COMMENTS
from vivero.storage.search.user_tasks import USER_TASKS
from vivero.storage.work import task_comments

MAX_COMMENT = 4000
"""Characters of a comment."""
MOST_COMMENTS = 1000
"""Comments on a user task."""


class CommentBody(Body, frozen=True):
    text: str | None = None


_decoder = decoder(CommentBody)


async def add(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/comments {text}: write a comment, also on a task that has ended. 201 with its key.

    The caller is its author. The audit log says that there is one, and not its text. Each request writes one, with or
    without an Idempotency-Key. 409 if the task has too many.
    """
    key = request.key("userTaskKey")
    text = decode(request, _decoder, services.settings).text
    found = Violations()
    found.require("text", text and text.strip())
    found.longest("text", text, MAX_COMMENT)
    found.check()
    author, tenants = request.caller.id, conditions(request.tenants)
    async with changing(request, services) as connection:
        added = await task_comments.add(connection, key, author, text or "", MOST_COMMENTS, tenants)
        if added is None:
            raise not_found(USER_TASKS.name, key)
        if added.key is None or added.at_ms is None:
            detail = f"User task '{key}' has {MOST_COMMENTS} comments, and cannot have more"
            raise Problem(409, "INVALID_STATE", detail)
    made = {"commentKey": str(added.key), "author": author, "creationDate": iso_time(added.at_ms)}
    return json_response(made, status=201)


async def search(request: Request, services: Services) -> Response:
    """POST /v2/user-tasks/{key}/comments/search: the comments on a task, by author or time."""
    key = request.key("userTaskKey")
    prepared = prepare(request, USER_TASK_COMMENTS, services.settings, ("user task", key))
    await must_exist(request, services, key)
    return await run(request, services, prepared)
