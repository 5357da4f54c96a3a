"""Migration of process instances to another definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivero.api.access.needs import READ_INSTANCE
from vivero.api.access.scopes import require_process
from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.computing import migration_plans as plans
from vivero.api.computing.migration_plans import Outlined, Source
from vivero.api.computing.turns import computed
from vivero.api.http.decoding import Body, Int64, Key, Violations, as_key, check_reference, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.routes import batch_operations
from vivero.api.services import Services
from vivero.core.records.migrations import MigrateInstance
from vivero.engine.batch_operations.items import MigrationPlan
from vivero.engine.compute.turns import WorkKind
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import single_reads
from vivero.storage.search.candidates import INSTANCES_PATH
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.work.batch_operations import MIGRATE_PROCESS_INSTANCE

MAX_ID = 1000
MAX_MAPPINGS = 10_000


class ElementCounts(msgspec.Struct):
    """The live instances of an element in the statistics of its definition."""

    element_id: str = msgspec.field(name="elementId")
    active: int
    incidents: int


class MappingInstruction(Body, frozen=True):
    source_element_id: str | None = None
    target_element_id: str | None = None


class MigrationPlanBody(Body, frozen=True):
    target_process_definition_key: Key | None = None
    mapping_instructions: tuple[MappingInstruction, ...] | None = None


class MigrationBody(MigrationPlanBody, frozen=True):
    operation_reference: Int64 | None = None


class BatchMigrationBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    migration_plan: MigrationPlanBody | None = None
    operation_reference: Int64 | None = None


class SuggestionBody(Body, frozen=True):
    target_process_definition_key: Key | None = None


_decoder, _batch_decoder = decoder(MigrationBody), decoder(BatchMigrationBody)
_suggestion_decoder = decoder(SuggestionBody)
_counts_decoder = msgspec.json.Decoder(list[ElementCounts])
_encode = msgspec.json.Encoder().encode


async def migrate(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/migration: let a running instance continue by another definition."""
    key = request.key("processInstanceKey")
    body = decode(request, _decoder, services.settings)
    plan = plan_of(body)
    check_reference(body.operation_reference)
    return await submit_or_try(request, services, MigrateInstance(key, plan.target, plan.mappings), key)


async def migrate_by_filter(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/migration: a batch that migrates the active instances that a filter selects.

    An instance that has the target already is left as it is, and its item is completed.
    """
    body = decode(request, _batch_decoder, services.settings)
    check_reference(body.operation_reference)
    found = Violations()
    if body.filter is None:
        found.add("No filter provided")
    if body.migration_plan is None:
        found.add("No migrationPlan provided")
    found.check()
    plan = _encode(plan_of(body.migration_plan or MigrationPlanBody())).decode()
    key = await batch_operations.create_for(
        request, services, MIGRATE_PROCESS_INSTANCE, INSTANCES_PATH, body.filter or {}, plan=plan
    )
    return batch_operations.answer(key, MIGRATE_PROCESS_INSTANCE)


def plan_of(body: MigrationPlanBody) -> MigrationPlan:
    """The target and the mappings of a plan. Raises Problem 400."""
    found = Violations()
    key = as_key(body.target_process_definition_key, "targetProcessDefinitionKey")
    if key is None:
        found.add("No targetProcessDefinitionKey provided")
    given = body.mapping_instructions or ()
    if not given:
        found.add("No mappingInstructions provided")
    if len(given) > MAX_MAPPINGS:
        found.add(f"The provided mappingInstructions are {len(given)} but must not be more than {MAX_MAPPINGS}")
    if not all(one.source_element_id and one.target_element_id for one in given):
        found.add("[sourceElementId, targetElementId] are required in mappingInstructions")
    for one in given:
        found.longest("sourceElementId", one.source_element_id, MAX_ID)
        found.longest("targetElementId", one.target_element_id, MAX_ID)
    found.check()
    mappings = tuple((one.source_element_id or "", one.target_element_id or "") for one in given)
    return MigrationPlan(key or 0, mappings)


# ---- suggestions


async def suggest(request: Request, services: Services) -> Response:
    """POST /v2/process-definitions/{key}/migration-plan: mappings to another definition, with reasons and live counts.

    `mappingInstructions` can be sent as they are.
    """
    source = request.key("processDefinitionKey")
    body = decode(request, _suggestion_decoder, services.settings)
    target = as_key(body.target_process_definition_key, "targetProcessDefinitionKey")
    if target is None:
        raise invalid_argument("No targetProcessDefinitionKey provided")
    await require_process(request, services, READ_INSTANCE, target)

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
    return json_response(_suggested(source, target, outline, alive))


def _suggested(source: int, target: int, outline: Sequence[Outlined], alive: Mapping[str, int]) -> dict[str, Any]:
    mapped = [one for one in outline if one.target is not None]
    return {
        "sourceProcessDefinitionKey": str(source),
        "targetProcessDefinitionKey": str(target),
        "mappingInstructions": [{"sourceElementId": one.id, "targetElementId": one.target} for one in mapped],
        "elements": [
            {
                "elementId": one.id,
                "elementName": one.name,
                "elementType": one.type,
                "targetElementId": one.target,
                "reason": one.reason,
                "active": alive.get(one.id, 0),
            }
            for one in outline
        ],
    }
