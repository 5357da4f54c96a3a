"""Task listeners of the whole cluster: each is told of the transitions of all user tasks."""

from __future__ import annotations

from vivero.api.access.audit import changing
from vivero.api.http.decoding import Body, Int32, Violations, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import read
from vivero.api.routes.directory import id_of
from vivero.api.search.search_requests import searching
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import JOB_TYPE_BYTES
from vivero.core.records.user_tasks import LISTENER_ID
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.global_task_listeners import GLOBAL_TASK_LISTENERS
from vivero.storage.search.statements import get_by
from vivero.storage.state import task_listeners
from vivero.storage.state.task_listeners import API, EVENT_TYPES, GlobalTaskListener, each_once

search = searching(GLOBAL_TASK_LISTENERS)


class GlobalTaskListenerBody(Body, frozen=True):
    """`id` only in a creation: later the path has it."""

    id: str | None = None
    type: str | None = None
    event_types: tuple[str, ...] | None = None
    retries: Int32 | None = None
    after_non_global: bool | None = None
    priority: Int32 | None = None


_decoder = decoder(GlobalTaskListenerBody)


async def create(request: Request, services: Services) -> Response:
    """POST /v2/global-task-listeners: add a listener, for all transitions that begin from now on."""
    body = decode(request, _decoder, services.settings)
    made = _listener(body.id or "", body)
    async with changing(request, services, made.id) as connection:
        if not await task_listeners.create(connection, made):
            detail = f"{GLOBAL_TASK_LISTENERS.name} with id '{made.id}' exists already"
            raise Problem(409, "ALREADY_EXISTS", detail)
    return json_response(_document(made), status=201)


async def get(request: Request, services: Services) -> Response:
    """GET /v2/global-task-listeners/{id}."""
    id = id_of(request, "id")
    found = await read(services, lambda connection: get_by(connection, GLOBAL_TASK_LISTENERS, "x.id", id))
    if found is None:
        raise _unknown(id)
    return json_response(found)


async def replace(request: Request, services: Services) -> Response:
    """PUT /v2/global-task-listeners/{id}: replace a listener. Transitions under way keep the former one."""
    body = decode(request, _decoder, services.settings)
    if body.id is not None:
        raise invalid_argument("The property 'id' does not belong here")
    changed = _listener(request.params["id"], body)
    async with changing(request, services) as connection:
        if not await task_listeners.replace(connection, changed):
            raise await _unchanged(connection, changed.id)
    return json_response(_document(changed))


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/global-task-listeners/{id}: delete a listener. Transitions under way keep it."""
    async with changing(request, services) as connection:
        if not await task_listeners.delete(connection, id_of(request, "id")):
            raise await _unchanged(connection, id_of(request, "id"))
    return no_content()


def _listener(id: str, body: GlobalTaskListenerBody) -> GlobalTaskListener:
    """The listener in a body, with each event once; `all` absorbs others. Raises Problem 400."""
    found = Violations()
    found.require("id", id)
    found.require("type", (body.type or "").strip())
    found.require("eventTypes", body.event_types or None)
    found.largest("type", body.type, JOB_TYPE_BYTES)
    found.at_least("retries", body.retries, 1)
    if id and LISTENER_ID.fullmatch(id) is None:
        found.add(f"The provided id '{id[:100]}' is not valid: it has up to 256 of the characters a-z A-Z 0-9 _~@.+-")
    found.check()
    events = each_once(map(_event_type, body.event_types or ()))
    return GlobalTaskListener(
        id,
        (body.type or "").strip(),
        3 if body.retries is None else body.retries,
        50 if body.priority is None else body.priority,
        bool(body.after_non_global),
        events,
    )


def _event_type(given: str) -> str:
    if given.lower() not in EVENT_TYPES:
        raise unexpected_value(given[:100], "eventTypes", EVENT_TYPES)
    return given.lower()


def _document(listener: GlobalTaskListener) -> dict[str, object]:
    return {
        "id": listener.id,
        "type": listener.type,
        "retries": listener.retries,
        "afterNonGlobal": listener.after_non_global,
        "priority": listener.priority,
        "eventTypes": listener.event_types,
        "source": API,
    }


async def _unchanged(connection: Connection, id: str) -> Problem:
    """The answer to a change of a listener that the API may not change, or that is not there."""
    if not await task_listeners.is_configured(connection, id):
        return _unknown(id)
    detail = f"{GLOBAL_TASK_LISTENERS.name} with id '{id}' is in the settings file, where alone it can be changed"
    return Problem(409, "INVALID_STATE", detail)


def _unknown(id: str) -> Problem:
    return not_found(GLOBAL_TASK_LISTENERS.name, id[:300], by="id")
