"""Commands of the log: their status, outcome and events."""

from __future__ import annotations

from vivero.api.computing.histories import command_document
from vivero.api.computing.large_histories import made
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.storage.log import command_log


async def get(request: Request, services: Services) -> Response:
    """GET /v2/commands/{position}: PENDING, PROCESSED or REJECTED, its answer, and its events."""
    position = request.key("position")
    found = await read_of(
        services, request.tenants, lambda connection, tenants: command_log.command(connection, position, tenants)
    )
    if found is None:
        raise not_found("Command", position, by="position")
    return json_response(await made(services, found.rows, command_document, found))
