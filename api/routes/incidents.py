"""Incidents: read, search, resolve."""

from __future__ import annotations

from vivero.api.commands import submission
from vivero.api.http.decoding import Body, Int64, check_reference, decode_optional, decoder
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.reading import read_of
from vivero.api.search.exports import exporting
from vivero.api.search.search_requests import getting, prepare, run, searching
from vivero.api.services import Services
from vivero.core.records.instances import ResolveIncident
from vivero.storage.reads import single_reads
from vivero.storage.search.element_instances import ELEMENT_INSTANCES
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.process_instances import PROCESS_INSTANCES

get = getting(INCIDENTS, "incidentKey")
search = searching(INCIDENTS)
export = exporting(INCIDENTS, "incidents")


class ResolutionBody(Body, frozen=True):
    operation_reference: Int64 | None = None


_resolution_decoder = decoder(ResolutionBody)


async def search_of_instance(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/incidents/search: those of the instance and of all instances that it called."""
    key = request.key("processInstanceKey")
    prepared = prepare(request, INCIDENTS, services.settings, ("process instance", key))
    root = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.root_of_instance(connection, key, tenants)
    )
    if root is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    if root == key:  # all incidents of the instance tree, for which there is an index
        prepared = prepare(request, INCIDENTS, services.settings, ("root", key))
    return await run(request, services, prepared)


async def search_of_element(request: Request, services: Services) -> Response:
    """POST /v2/element-instances/{key}/incidents/search: those of the element and of all elements within or called."""
    key = request.key("elementInstanceKey")
    prepared = prepare(request, INCIDENTS, services.settings, ("element instance", key))
    if not await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.element_exists(connection, key, tenants)
    ):
        raise not_found(ELEMENT_INSTANCES.name, key)
    return await run(request, services, prepared)


async def resolve(request: Request, services: Services) -> Response:
    """POST /v2/incidents/{key}/resolution: retry the failed step."""
    key = request.key("incidentKey")
    body = decode_optional(request, _resolution_decoder, services.settings)
    check_reference(body.operation_reference)
    return await submission.command(request, services, ResolveIncident(key), key)
