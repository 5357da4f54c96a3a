"""Process definitions: read, search, and the file they came in. Deleted ones are not there any more."""

from __future__ import annotations

from api.problems import not_found
from api.reading import read
from api.request import Request
from api.response import Response, no_content
from api.search import getting, searching
from api.services import Services
from storage import reads
from storage.search import get as get_one
from storage.searchable import PROCESS_DEFINITIONS

get = getting(PROCESS_DEFINITIONS, "processDefinitionKey")
search = searching(PROCESS_DEFINITIONS)


async def xml(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/xml: the bytes that were deployed."""
    key = request.key("processDefinitionKey")
    content = await read(services, lambda connection: reads.definition_xml(connection, key))
    if content is None:
        raise not_found(PROCESS_DEFINITIONS.name, key)
    return Response(200, content, ((b"content-type", b"text/xml"),))


async def form(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/form: 204, because forms cannot be deployed yet."""
    key = request.key("processDefinitionKey")
    if await read(services, lambda connection: get_one(connection, PROCESS_DEFINITIONS, key)) is None:
        raise not_found(PROCESS_DEFINITIONS.name, key)
    return no_content()
