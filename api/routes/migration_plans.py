"""Suggested plans of migrations, with reasons and live counts, which people and programs check before they migrate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from vivero.api.access.needs import READ_INSTANCE
from vivero.api.access.scopes import require_process
from vivero.api.computing import migration_plans as plans
from vivero.api.computing.migration_plans import Outlined, Source
from vivero.api.computing.turns import computed
from vivero.api.http.decoding import Body, Key, as_key, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.engine.compute.turns import WorkKind
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import called_definitions, single_reads
from vivero.storage.reads.called_definitions import CalledDefinition
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS

CALL_ACTIVITY = "CALL_ACTIVITY"


class ElementCounts(msgspec.Struct):
    """The live instances of an element in the statistics of its definition."""

    element_id: str = msgspec.field(name="elementId")
    active: int
    incidents: int


class PlanBody(Body, frozen=True):
    target_process_definition_key: Key | None = None
    include_called: bool = False


class Suggested(NamedTuple):
    """A suggested plan: the elements of the source, and the numbers of their live instances."""

    source: int
    target: int
    outline: Sequence[Outlined]
    alive: Mapping[str, int]

    def document(self) -> dict[str, Any]:
        mapped = [one for one in self.outline if one.target is not None]
        return {
            "sourceProcessDefinitionKey": str(self.source),
            "targetProcessDefinitionKey": str(self.target),
            "mappingInstructions": [{"sourceElementId": one.id, "targetElementId": one.target} for one in mapped],
            "elements": [
                {
                    "elementId": one.id,
                    "elementName": one.name,
                    "elementType": one.type,
                    "targetElementId": one.target,
                    "reason": one.reason,
                    "active": self.alive.get(one.id, 0),
                }
                for one in self.outline
            ],
        }


_decoder = decoder(PlanBody)
_counts_decoder = msgspec.json.Decoder(list[ElementCounts])


async def suggest(request: Request, services: Services) -> Response:
    """POST /v2/process-definitions/{key}/migration-plan: mappings to another definition, with reasons and live counts.

    `mappingInstructions` and `calledInstances` can be sent as they are.
    """
    source = request.key("processDefinitionKey")
    body = decode(request, _decoder, services.settings)
    target = as_key(body.target_process_definition_key, "targetProcessDefinitionKey")
    if target is None:
        raise invalid_argument("No targetProcessDefinitionKey provided")
    await require_process(request, services, READ_INSTANCE, target)
    plan = await _plan(request, services, source, target)
    found = await _called(request, services, plan) if body.include_called else []
    called = [
        (await _plan(request, services, one.key, one.latest)).document() | _description(one)
        for one in found
        if request.allowed is None or one.process_id in request.allowed.ids
    ]
    return json_response(plan.document() | {"calledInstances": called})


async def _plan(request: Request, services: Services, source: int, target: int) -> Suggested:
    """Raises Problem: 404 for a definition that does not exist, 409 for a model that cannot be read any more."""

    async def query(connection: Connection, tenants: Tenants) -> tuple[Source | None, Source | None, bytes]:
        one = await single_reads.process_source(connection, source, tenants)
        other = await single_reads.process_source(connection, target, tenants)
        return one, other, await single_reads.definition_statistics(connection, source, tenants)

    one, other, counts = await read_of(services, request.tenants, query)
    for key, found in ((source, one), (target, other)):
        if found is None:
            raise not_found(PROCESS_DEFINITIONS.name, key)
    outline = await computed(services, WorkKind.MODELS, plans.outline, one, other)
    if outline is None:
        raise Problem(409, "INVALID_STATE", "One of the two models can no longer be read by this version of Vivero")
    alive = {each.element_id: each.active + each.incidents for each in _counts_decoder.decode(counts)}
    return Suggested(source, target, outline, alive)


async def _called(request: Request, services: Services, plan: Suggested) -> list[CalledDefinition]:
    """The definitions of what running instances of the source have called, if there is a later version."""
    calls = [one.id for one in plan.outline if one.type == CALL_ACTIVITY]

    async def query(connection: Connection, tenants: Tenants) -> list[CalledDefinition]:
        return await called_definitions.outdated(connection, plan.source, calls, tenants)

    return await read_of(services, request.tenants, query) if calls else []


def _description(called: CalledDefinition) -> dict[str, Any]:
    return {
        "processDefinitionId": called.process_id,
        "sourceVersion": called.version,
        "targetVersion": called.latest_version,
        "active": called.active,
    }
