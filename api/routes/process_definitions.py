"""Process definitions: read, search, and read the XML. Deleted ones do not exist for these requests."""

from __future__ import annotations

from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.reading import read_of
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.storage.reads import single_reads
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS

get = getting(PROCESS_DEFINITIONS, "processDefinitionKey")
search = searching(PROCESS_DEFINITIONS)


async def xml(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/xml: the deployed bytes."""
    key = request.key("processDefinitionKey")
    content = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.definition_xml(connection, key, tenants)
    )
    if content is None:
        raise not_found(PROCESS_DEFINITIONS.name, key)
    return Response(200, content, ((b"content-type", b"text/xml"),))
