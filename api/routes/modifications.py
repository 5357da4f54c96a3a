"""Modification of process instances: activate, move and terminate their elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.http.decoding import (
    Body,
    Int64,
    Key,
    Violations,
    as_key,
    as_variables,
    check_reference,
    decode,
    decode_optional,
    decoder,
)
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.routes import batch_operations
from vivero.api.routes.element_pairs import MAX_ID, ElementPair, pairs_of
from vivero.api.services import Services
from vivero.core.modifications.plan import MAX_CHANGES
from vivero.core.records.modifications import (
    DIRECT,
    INFERRED,
    SOURCE_PARENT,
    ActivateInstruction,
    ModifyInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)
from vivero.engine.batch_operations.items import ModificationPlan
from vivero.storage.search.candidates import INSTANCES_PATH
from vivero.storage.work.batch_operations import MODIFY_PROCESS_INSTANCE

MAX_MOVES = 1000
"""Move instructions of a batch."""
CHOOSE = -1
"""The ancestor key of clients that name none."""


class ElementVariablesBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    scope_id: str | None = None


class ActivateBody(Body, frozen=True):
    element_id: str | None = None
    variable_instructions: tuple[ElementVariablesBody, ...] | None = None
    ancestor_element_instance_key: Key | None = None


class SourceBody(Body, frozen=True):
    source_type: Literal["byId", "byKey"] | None = None
    source_element_id: str | None = None
    source_element_instance_key: Key | None = None


class AncestorBody(Body, frozen=True):
    ancestor_scope_type: Literal["direct", "inferred", "sourceParent"] | None = None
    ancestor_element_instance_key: Key | None = None


class MoveElementBody(Body, frozen=True):
    source_element_instruction: SourceBody | None = None
    target_element_id: str | None = None
    ancestor_scope_instruction: AncestorBody | None = None
    variable_instructions: tuple[ElementVariablesBody, ...] | None = None


class TerminateBody(Body, frozen=True):
    element_id: str | None = None
    element_instance_key: Key | None = None


class ModificationBody(Body, frozen=True):
    activate_instructions: tuple[ActivateBody, ...] | None = None
    move_instructions: tuple[MoveElementBody, ...] | None = None
    terminate_instructions: tuple[TerminateBody, ...] | None = None
    operation_reference: Int64 | None = None


class BatchModificationBody(Body, frozen=True):
    filter: dict[str, Any] | None = None
    move_instructions: tuple[ElementPair, ...] | None = None
    operation_reference: Int64 | None = None


_decoder, _batch_decoder = decoder(ModificationBody), decoder(BatchModificationBody)


async def modify(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/modification: activate, move and terminate elements of an instance."""
    key = request.key("processInstanceKey")
    body = decode_optional(request, _decoder, services.settings)
    check_reference(body.operation_reference)
    return await submit_or_try(request, services, command_of(key, body, services), key)


async def modify_by_filter(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/modification: a batch that moves elements of the active instances of a filter."""
    body = decode(request, _batch_decoder, services.settings)
    check_reference(body.operation_reference)
    found = Violations()
    found.require("filter", body.filter)
    plan = _plan_of(body.move_instructions or (), found)
    return await batch_operations.create_or_forecast(
        request, services, MODIFY_PROCESS_INSTANCE, INSTANCES_PATH, body.filter or {}, plan
    )


def _plan_of(given: Sequence[ElementPair], found: Violations) -> ModificationPlan:
    """The moves of a batch. Raises Problem 400."""
    if not given:
        found.add("No moveInstructions provided")
    if len(given) > MAX_MOVES:
        found.add(f"The provided moveInstructions are {len(given)} but must not be more than {MAX_MOVES}")
    moves = pairs_of(given, "moveInstructions", found)
    sources = Counter(source for source, _ in moves if source)
    for id in (id for id, count in sources.items() if count > 1):
        found.add(f"The sourceElementId '{id}' is in several moveInstructions")
    found.check()
    return ModificationPlan(moves)


def command_of(key: int, body: ModificationBody, services: Services) -> ModifyInstance:
    """The command of a request. Raises Problem 400."""
    found = Violations()
    for name, given in (
        ("activateInstructions", body.activate_instructions),
        ("moveInstructions", body.move_instructions),
        ("terminateInstructions", body.terminate_instructions),
    ):
        if given is not None and len(given) > MAX_CHANGES:
            found.add(f"The provided {name} are {len(given)} but must not be more than {MAX_CHANGES}")
    for activate in body.activate_instructions or ():
        found.require("elementId", activate.element_id)
        found.longest("elementId", activate.element_id, MAX_ID)
    for move in body.move_instructions or ():
        _check_move(move, found)
    for terminate in body.terminate_instructions or ():
        _check_one(found, ("elementId", terminate.element_id), ("elementInstanceKey", terminate.element_instance_key))
    found.check()
    return ModifyInstance(
        key,
        tuple(_activate(one, services) for one in body.activate_instructions or ()),
        tuple(
            TerminateInstruction(as_key(one.element_instance_key, "elementInstanceKey"), one.element_id or None)
            for one in body.terminate_instructions or ()
        ),
        tuple(_move(one, services) for one in body.move_instructions or ()),
    )


def _check_move(move: MoveElementBody, found: Violations) -> None:
    source = move.source_element_instruction
    found.require("sourceElementInstruction", source)
    found.require("targetElementId", move.target_element_id)
    found.longest("targetElementId", move.target_element_id, MAX_ID)
    if source is not None:
        _check_one(
            found,
            ("sourceElementId", source.source_element_id),
            ("sourceElementInstanceKey", source.source_element_instance_key),
        )
    scope = move.ancestor_scope_instruction
    if scope is not None and scope.ancestor_element_instance_key and scope.ancestor_scope_type in _WITHOUT_KEY:
        found.add(f"An ancestorElementInstanceKey is not allowed with the type {scope.ancestor_scope_type}")


_WITHOUT_KEY = (INFERRED, SOURCE_PARENT)


def _check_one(found: Violations, *given: tuple[str, str | None]) -> None:
    """Exactly one of two properties is given."""
    names = ", ".join(name for name, _ in given)
    present = [value for _, value in given if value]
    if not present:
        found.add(f"At least one of [{names}] is required")
    elif len(present) > 1:
        found.add(f"Only one of [{names}] is allowed")
    for name, value in given:
        found.longest(name, value, MAX_ID)


def _activate(one: ActivateBody, services: Services) -> ActivateInstruction:
    ancestor = _ancestor(one.ancestor_element_instance_key)
    return ActivateInstruction(one.element_id or "", _variables(one.variable_instructions, services), ancestor)


def _move(one: MoveElementBody, services: Services) -> MoveInstruction:
    source, scope = one.source_element_instruction, one.ancestor_scope_instruction
    return MoveInstruction(
        one.target_element_id or "",
        None if source is None else source.source_element_id or None,
        None if source is None else as_key(source.source_element_instance_key, "sourceElementInstanceKey"),
        DIRECT if scope is None else scope.ancestor_scope_type or DIRECT,
        None if scope is None else _ancestor(scope.ancestor_element_instance_key),
        _variables(one.variable_instructions, services),
    )


def _ancestor(text: str | None) -> int | None:
    key = as_key(text, "ancestorElementInstanceKey")
    return None if key == CHOOSE else key


def _variables(given: Sequence[ElementVariablesBody] | None, services: Services) -> tuple[VariableInstruction, ...]:
    return tuple(
        VariableInstruction(as_variables(one.variables, services.settings), one.scope_id or "") for one in given or ()
    )
