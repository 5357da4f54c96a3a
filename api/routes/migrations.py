"""Migration of process instances to another definition."""

from __future__ import annotations

from collections import Counter
from typing import Any

from vivero.api.access.needs import UPDATE_INSTANCE
from vivero.api.access.scopes import require_processes
from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.http.decoding import Body, Int64, Key, Violations, as_key, check_reference, decode, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.routes import batch_operations
from vivero.api.routes.element_pairs import ElementPair, pairs_of
from vivero.api.services import Services
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.engine.batch_operations.items import MigrationPlan
from vivero.storage.search.candidates import INSTANCES_PATH
from vivero.storage.work.batch_operations import MIGRATE_PROCESS_INSTANCE

MAX_MAPPINGS = 10_000
MAX_CALLED = 100
"""Definitions of called instances."""


class CalledMigrationBody(Body, frozen=True):
    source_process_definition_key: Key | None = None
    target_process_definition_key: Key | None = None
    mapping_instructions: tuple[ElementPair, ...] | None = None


class MigrationPlanBody(Body, frozen=True):
    target_process_definition_key: Key | None = None
    mapping_instructions: tuple[ElementPair, ...] | None = None
    called_instances: tuple[CalledMigrationBody, ...] | None = None


class MigrationBody(MigrationPlanBody, frozen=True):
    operation_reference: Int64 | None = None


class BatchMigrationBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    migration_plan: MigrationPlanBody | None = None
    operation_reference: Int64 | None = None


_decoder, _batch_decoder = decoder(MigrationBody), decoder(BatchMigrationBody)


async def migrate(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/migration: let a running instance continue by another definition."""
    key = request.key("processInstanceKey")
    body = decode(request, _decoder, services.settings)
    plan = plan_of(body)
    check_reference(body.operation_reference)
    await _require_definitions(request, services, plan)
    command = MigrateInstance(key, plan.target, plan.mappings, called=plan.called)
    return await submit_or_try(request, services, command, key)


async def migrate_by_filter(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/migration: a batch that migrates the active instances that a filter selects.

    An instance that has the target already is left as it is, and its item is completed.
    """
    body = decode(request, _batch_decoder, services.settings)
    check_reference(body.operation_reference)
    found = Violations()
    found.require("filter", body.filter)
    found.require("migrationPlan", body.migration_plan)
    found.check()
    plan = plan_of(body.migration_plan or MigrationPlanBody())
    await _require_definitions(request, services, plan)
    return await batch_operations.create_or_forecast(
        request, services, MIGRATE_PROCESS_INSTANCE, INSTANCES_PATH, body.filter or {}, plan
    )


async def _require_definitions(request: Request, services: Services, plan: MigrationPlan) -> None:
    """Raise Problem 403 unless the caller may update instances of the targets, and of the called processes.

    Otherwise a caller with rights on one process could run another one.
    """
    definitions = {plan.target, *(key for one in plan.called for key in (one.source, one.definition_key))}
    await require_processes(request, services, UPDATE_INSTANCE, definitions)


def plan_of(body: MigrationPlanBody) -> MigrationPlan:
    """The targets and the mappings of a plan. Raises Problem 400."""
    found, called = Violations(), body.called_instances or ()
    plan = MigrationPlan(_target(body, found), _mappings(body, found), tuple(_called(one, found) for one in called))
    if not plan.mappings:
        found.add("No mappingInstructions provided")
    if len(called) > MAX_CALLED:
        found.add(f"The provided calledInstances are {len(called)} but must not be more than {MAX_CALLED}")
    counts = Counter(one.source for one in plan.called if one.source)
    for key in (key for key, count in counts.items() if count > 1):
        found.add(f"The sourceProcessDefinitionKey '{key}' must not be in calledInstances more than once")
    given = len(plan.mappings) + sum(len(one.mappings) for one in plan.called)
    if given > MAX_MAPPINGS:
        found.add(f"The provided mappingInstructions are {given} but must not be more than {MAX_MAPPINGS}")
    found.check()
    return plan


def _called(body: CalledMigrationBody, found: Violations) -> CalledMigration:
    source = as_key(body.source_process_definition_key, "sourceProcessDefinitionKey")
    if source is None:
        found.add("No sourceProcessDefinitionKey provided")
    return CalledMigration(source or 0, _target(body, found), _mappings(body, found))


def _target(body: MigrationPlanBody | CalledMigrationBody, found: Violations) -> int:
    key = as_key(body.target_process_definition_key, "targetProcessDefinitionKey")
    if key is None:
        found.add("No targetProcessDefinitionKey provided")
    return key or 0


def _mappings(body: MigrationPlanBody | CalledMigrationBody, found: Violations) -> tuple[tuple[str, str], ...]:
    return pairs_of(body.mapping_instructions or (), "mappingInstructions", found)
