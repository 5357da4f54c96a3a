"""The completed activities that a compensation would undo next, page by page. BPMN 2.0.2 §10.7, §13.5.5."""

from __future__ import annotations

from typing import Any

from vivero.api.http.decoding import check_limit, number_in_query
from vivero.api.http.problems import not_found
from vivero.api.http.request import INT64_MAX, Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import registrations, single_reads
from vivero.storage.reads.registrations import Registered
from vivero.storage.search.process_instances import PROCESS_INSTANCES

MAX_LIMIT = 1000


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/compensations: of a scope, the latest first, as a compensation undoes them.

    `scopeKey`: by default the instance; `elementId`: one activity only; `limit`; `after`: a page's `next`.
    """
    key = request.key("processInstanceKey")
    scope, before = number_in_query(request, "scopeKey", key), number_in_query(request, "after", INT64_MAX)
    limit = number_in_query(request, "limit", 100)
    check_limit(limit, MAX_LIMIT)
    element = request.query.get("elementId")

    async def query(connection: Connection, tenants: Tenants) -> list[Registered] | None:
        if await single_reads.root_of_instance(connection, key, tenants) is None:
            return None
        return await registrations.latest(connection, key, scope, element, before, limit, tenants)

    rows = await read_of(services, request.tenants, query)
    if rows is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    more = len(rows) == limit
    return json_response({"items": [_item(row) for row in rows], "next": str(rows[-1].key) if more else None})


def _item(row: Registered) -> dict[str, Any]:
    return {
        "compensationKey": str(row.key),
        "elementInstanceKey": str(row.activity),
        "elementId": row.element,
        "handlerId": row.handler,
        "inside": row.inside,
        "state": "RUNNING" if row.running else "REGISTERED",
    }
