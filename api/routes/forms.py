"""Forms: all of them, by key, of a user task, and for the start of a process. The schema is the deployed file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, encode, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.search.search_requests import searching
from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import single_reads
from vivero.storage.reads.single_reads import NoSuchOwner, StoredForm
from vivero.storage.search.deployed_resources import FORMS
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.user_tasks import USER_TASKS

Query = Callable[[Connection, int, Tenants], Awaitable[StoredForm | None]]


search = searching(FORMS)


async def get(request: Request, services: Services) -> Response:
    """GET /v2/forms/{key}."""
    form = await _read(request, services, single_reads.form, key := request.key("formKey"))
    if form is None:
        raise not_found("Form", key)
    return _answer(form)


async def of_user_task(request: Request, services: Services) -> Response:
    """GET /v2/user-tasks/{key}/form: the one that the task was created with; 204 if it has none."""
    return await _of(request, services, single_reads.form_of_user_task, USER_TASKS.name, request.key("userTaskKey"))


async def of_process(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/form: the start form; 204 if the process has none."""
    key = request.key("processDefinitionKey")
    return await _of(request, services, single_reads.start_form, PROCESS_DEFINITIONS.name, key)


async def _of(request: Request, services: Services, query: Query, owner: str, key: int) -> Response:
    try:
        form = await _read(request, services, query, key)
    except NoSuchOwner:
        raise not_found(owner, key) from None
    return no_content() if form is None else _answer(form)


async def _read(request: Request, services: Services, query: Query, key: int) -> StoredForm | None:
    return await read_of(services, request.tenants, lambda connection, tenants: query(connection, key, tenants))


def _answer(form: StoredForm) -> Response:
    document = {
        "tenantId": form.tenant,
        "formId": form.form_id,
        "schema": form.content.decode("utf-8-sig"),
        "version": form.version,
        "formKey": str(form.key),
    }
    return json_response(encode(document))
