"""Process definitions: read, search, and read the XML. Deleted ones do not exist for these requests."""

from __future__ import annotations

from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.reading import read_of
from vivero.api.search.search_requests import answer_groups, getting, searching
from vivero.api.services import Services
from vivero.storage.reads import single_reads
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.variable_names import NEWEST, VARIABLE_NAMES

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


async def variable_names(request: Request, services: Services) -> Response:
    """POST /v2/process-definitions/{key}/variable-names/search: none for an unknown definition, as in Camunda."""
    key = request.key("processDefinitionKey")
    return await answer_groups(request, services, VARIABLE_NAMES, (NEWEST, key))
