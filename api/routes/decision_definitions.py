"""Decisions and decision requirements: read, search, count, read the XML. Deleted ones do not exist here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from vivero.api.http.decoding import Body, Key, as_key, decode_optional, decoder
from vivero.api.http.problems import invalid_argument, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import decision_statistics, single_reads
from vivero.storage.search.decisions import DECISION_DEFINITIONS, DECISION_REQUIREMENTS
from vivero.storage.search.resources import Resource

get_definition = getting(DECISION_DEFINITIONS, "decisionDefinitionKey")
search_definitions = searching(DECISION_DEFINITIONS)
get_requirements = getting(DECISION_REQUIREMENTS, "decisionRequirementsKey")
search_requirements = searching(DECISION_REQUIREMENTS)

MAX_KEYS = 100
"""Versions that one request counts."""


class CountsBody(Body, frozen=True):
    decision_definition_keys: list[Key] | None = None


_counts_decoder = decoder(CountsBody)
Query = Callable[[Connection, int, Tenants], Awaitable[bytes | None]]


async def definition_xml(request: Request, services: Services) -> Response:
    """GET /v2/decision-definitions/{key}/xml: the deployed bytes of the file that has the decision."""
    key = request.key("decisionDefinitionKey")
    return _xml(await _read(request, services, single_reads.decision_xml, DECISION_DEFINITIONS, key))


async def requirements_xml(request: Request, services: Services) -> Response:
    """GET /v2/decision-requirements/{key}/xml: the deployed bytes."""
    key = request.key("decisionRequirementsKey")
    return _xml(await _read(request, services, single_reads.decision_requirements_xml, DECISION_REQUIREMENTS, key))


async def _read(request: Request, services: Services, query: Query, resource: Resource, key: int) -> bytes:
    """The result of a query about one resource. Raises Problem 404."""
    content = await read_of(services, request.tenants, lambda connection, tenants: query(connection, key, tenants))
    if content is None:
        raise not_found(resource.name, key)
    return content


def _xml(content: bytes) -> Response:
    return Response(200, content, ((b"content-type", b"text/xml"),))


async def evaluation_counts(request: Request, services: Services) -> Response:
    """POST /v2/decision-definitions/statistics/decision-instances: kept evaluations and failures of some versions."""
    given = decode_optional(request, _counts_decoder, services.settings).decision_definition_keys or []
    if len(given) > MAX_KEYS:
        raise invalid_argument(f"decisionDefinitionKeys has {len(given)} keys but must not have more than {MAX_KEYS}")
    keys = dict.fromkeys(key for each in given if (key := as_key(each, "decisionDefinitionKeys")) is not None)
    ids = None if request.allowed is None else request.allowed.ids
    items = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: decision_statistics.counts(connection, list(keys), ids, tenants),
    )
    return json_response(b'{"items":%b}' % items)


async def rule_counts(request: Request, services: Services) -> Response:
    """GET /v2/decision-definitions/{key}/statistics/rules: how often each rule matched in kept decision instances."""
    key = request.key("decisionDefinitionKey")
    return json_response(await _read(request, services, decision_statistics.rules, DECISION_DEFINITIONS, key))
