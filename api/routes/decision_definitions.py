"""Decisions and decision requirements: read, search, and read the XML. Deleted ones do not exist for these requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.reading import read_of
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import single_reads
from vivero.storage.search.decisions import DECISION_DEFINITIONS, DECISION_REQUIREMENTS
from vivero.storage.search.resources import Resource

get_definition = getting(DECISION_DEFINITIONS, "decisionDefinitionKey")
search_definitions = searching(DECISION_DEFINITIONS)
get_requirements = getting(DECISION_REQUIREMENTS, "decisionRequirementsKey")
search_requirements = searching(DECISION_REQUIREMENTS)

Query = Callable[[Connection, int, Tenants], Awaitable[bytes | None]]


async def definition_xml(request: Request, services: Services) -> Response:
    """GET /v2/decision-definitions/{key}/xml: the deployed bytes of the file that has the decision."""
    key = request.key("decisionDefinitionKey")
    return await _xml(request, services, single_reads.decision_xml, DECISION_DEFINITIONS, key)


async def requirements_xml(request: Request, services: Services) -> Response:
    """GET /v2/decision-requirements/{key}/xml: the deployed bytes."""
    key = request.key("decisionRequirementsKey")
    return await _xml(request, services, single_reads.decision_requirements_xml, DECISION_REQUIREMENTS, key)


async def _xml(request: Request, services: Services, query: Query, resource: Resource, key: int) -> Response:
    content = await read_of(services, request.tenants, lambda connection, tenants: query(connection, key, tenants))
    if content is None:
        raise not_found(resource.name, key)
    return Response(200, content, ((b"content-type", b"text/xml"),))
