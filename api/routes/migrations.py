"""Migration of process instances to another definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from vivero.api.commands import submission
from vivero.api.http.decoding import Body, Int64, Key, Violations, as_key, check_reference, decode, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.routes import batch_operations
from vivero.api.services import Services
from vivero.core.records.migrations import MigrateInstance
from vivero.engine.batch_operations.items import MigrationPlan
from vivero.storage.search.candidates import INSTANCES_PATH
from vivero.storage.work.batch_operations import MIGRATE_PROCESS_INSTANCE

MAX_ID = 1000
MAX_MAPPINGS = 10_000


class MappingInstruction(Body, frozen=True):
    source_element_id: str | None = None
    target_element_id: str | None = None


class MigrationBody(Body, frozen=True):
    target_process_definition_key: Key | None = None
    mapping_instructions: tuple[MappingInstruction, ...] | None = None
    operation_reference: Int64 | None = None


class MigrationPlanBody(Body, frozen=True):
    target_process_definition_key: Key | None = None
    mapping_instructions: tuple[MappingInstruction, ...] | None = None


class BatchMigrationBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    migration_plan: MigrationPlanBody | None = None
    operation_reference: Int64 | None = None


_decoder, _batch_decoder = decoder(MigrationBody), decoder(BatchMigrationBody)
_encode = msgspec.json.Encoder().encode


async def migrate(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/migration: let a running instance continue by another definition."""
    key = request.key("processInstanceKey")
    body = decode(request, _decoder, services.settings)
    target, mappings = plan_of(body.target_process_definition_key, body.mapping_instructions)
    check_reference(body.operation_reference)
    return await submission.command(request, services, MigrateInstance(key, target, mappings), key)


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
    given = body.migration_plan or MigrationPlanBody()
    plan = MigrationPlan(*plan_of(given.target_process_definition_key, given.mapping_instructions))
    key = await batch_operations.create_for(
        request, services, MIGRATE_PROCESS_INSTANCE, INSTANCES_PATH, body.filter or {}, plan=_encode(plan)
    )
    return batch_operations.answer(key, MIGRATE_PROCESS_INSTANCE)


def plan_of(
    target: str | None, instructions: Sequence[MappingInstruction] | None
) -> tuple[int, tuple[tuple[str, str], ...]]:
    """The target and the mappings of a plan. Raises Problem 400."""
    found = Violations()
    key = as_key(target, "targetProcessDefinitionKey")
    if key is None:
        found.add("No targetProcessDefinitionKey provided")
    if not instructions:
        found.add("No mappingInstructions provided")
    given = instructions or ()
    if len(given) > MAX_MAPPINGS:
        found.add(f"The provided mappingInstructions are {len(given)} but must not be more than {MAX_MAPPINGS}")
    if not all(one.source_element_id and one.target_element_id for one in given):
        found.add("[sourceElementId, targetElementId] are required in mappingInstructions")
    for one in given:
        found.longest("sourceElementId", one.source_element_id, MAX_ID)
        found.longest("targetElementId", one.target_element_id, MAX_ID)
    found.check()
    return key or 0, tuple((one.source_element_id or "", one.target_element_id or "") for one in given)
