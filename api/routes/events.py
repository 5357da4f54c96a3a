"""The events of a process instance and of those that it called, page by page, for programs that replay them."""

from __future__ import annotations

from vivero.api.computing.histories import events_page
from vivero.api.computing.large_histories import made
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.routes.traces import history_page
from vivero.api.services import Services


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/events: for the whole instance tree, oldest first. `after`: a page's `next`."""
    rows, next_after = await history_page(request, services)
    return json_response(await made(services, rows, events_page, rows, next_after))
