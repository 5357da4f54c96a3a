"""Process definitions: read, search, and the file they came in. Deleted ones are not there any more."""

from __future__ import annotations

from api.problems import not_found
from api.reading import read
from api.request import Request
from api.response import Response
from api.search import getting, searching
from api.services import Services
from storage import reads
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
