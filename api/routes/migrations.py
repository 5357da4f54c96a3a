"""Migration of process instances to another definition."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.api.commands import submission
from vivero.api.http.decoding import Body, Int64, Key, Violations, as_key, check_reference, decode, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.services import Services
from vivero.core.records.migrations import MigrateInstance

MAX_ID = 1000
MAX_MAPPINGS = 10_000


class MappingInstruction(Body, frozen=True):
    source_element_id: str | None = None
    target_element_id: str | None = None


class MigrationBody(Body, frozen=True):
    target_process_definition_key: Key | None = None
    mapping_instructions: tuple[MappingInstruction, ...] | None = None
    operation_reference: Int64 | None = None


_decoder = decoder(MigrationBody)


async def migrate(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/migration: let a running instance continue by another definition."""
    key = request.key("processInstanceKey")
    body = decode(request, _decoder, services.settings)
    target, mappings = plan_of(body.target_process_definition_key, body.mapping_instructions)
    check_reference(body.operation_reference)
    return await submission.command(request, services, MigrateInstance(key, target, mappings), key)


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
