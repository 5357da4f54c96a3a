"""Incidents: read, search, resolve."""

from __future__ import annotations

from api import commands
from api.decoding import Body, Int64, check_reference, decode_optional, decoder
from api.problems import not_found
from api.reading import read
from api.request import Request
from api.response import Response
from api.search import found, getting, prepare, searching
from api.services import Services
from engine.core.records.instances import ResolveIncident
from storage import reads
from storage.searchable import INCIDENTS, PROCESS_INSTANCES

get = getting(INCIDENTS, "incidentKey")
search = searching(INCIDENTS)


class ResolutionBody(Body, frozen=True):
    operation_reference: Int64 | None = None


_resolution_decoder = decoder(ResolutionBody)


async def search_of_instance(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/incidents/search: 404 when there is no such instance."""
    key = request.key("processInstanceKey")
    prepared = prepare(request, INCIDENTS, services.settings, ("processInstanceKey", str(key)))
    if not await read(services, lambda connection: reads.instance_exists(connection, key)):
        raise not_found(PROCESS_INSTANCES.name, key)
    return await found(services, prepared)


async def resolve(request: Request, services: Services) -> Response:
    """POST /v2/incidents/{key}/resolution: run again what failed."""
    key = request.key("incidentKey")
    body = decode_optional(request, _resolution_decoder, services.settings)
    check_reference(body.operation_reference)
    return await commands.command(request, services, ResolveIncident(key), key)
