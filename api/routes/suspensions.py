"""Suspend and resume process instances (docs/suspension.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.api.access.creators import needed
from vivero.api.access.needs import authorise, denied
from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.http.decoding import Body, Int64, Violations, check_reference, decode_optional, decoder
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.reading import read_of
from vivero.api.routes import batch_operations
from vivero.api.services import Services
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.engine.batch_operations.items import SuspensionPlan
from vivero.storage.search.candidates import INSTANCES_PATH
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.statements import process_of
from vivero.storage.work.batch_operations import RESUME_PROCESS_INSTANCE, SUSPEND_PROCESS_INSTANCE

REASON_CHARACTERS = 1_000


class SuspensionBody(Body, frozen=True):
    """The body of a suspension. `includeCalled` and `reason` are Vivero's own."""

    operation_reference: Int64 | None = None
    include_called: bool | None = None
    reason: str | None = None


class ResumptionBody(Body, frozen=True):
    """The body of a resumption. `includeCalled` is Vivero's own."""

    operation_reference: Int64 | None = None
    include_called: bool | None = None


class BatchSuspensionBody(Body, frozen=True):
    """The body of a suspension by filter. `reason` is Vivero's own."""

    filter: dict[str, Any] | None = None
    operation_reference: Int64 | None = None
    reason: str | None = None


class DefinitionSuspensionBody(Body, frozen=True):
    operation_reference: Int64 | None = None
    reason: str | None = None


class DefinitionResumptionBody(Body, frozen=True):
    operation_reference: Int64 | None = None


_suspension_decoder, _resumption_decoder = decoder(SuspensionBody), decoder(ResumptionBody)
_batch_decoder = decoder(BatchSuspensionBody)
_definition_decoder, _definition_resumption_decoder = (
    decoder(DefinitionSuspensionBody),
    decoder(DefinitionResumptionBody),
)


async def suspend(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/suspension."""
    key = request.key("processInstanceKey")
    body = decode_optional(request, _suspension_decoder, services.settings)
    check_reference(body.operation_reference)
    _note(request, body.reason)
    command = SuspendInstance(key, body.include_called or False, body.reason)
    return await submit_or_try(request, services, command, key)


async def resume(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/resumption."""
    key = request.key("processInstanceKey")
    body = decode_optional(request, _resumption_decoder, services.settings)
    check_reference(body.operation_reference)
    return await submit_or_try(request, services, ResumeInstance(key, body.include_called or False), key)


def _note(request: Request, reason: str | None) -> None:
    """Tell the audit log the reason. Raises Problem 400."""
    if reason is None:
        return
    found = Violations()
    found.require("reason", reason)
    found.longest("reason", reason, REASON_CHARACTERS)
    found.check()
    request.note = reason


# ---- batches


async def suspend_by_filter(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/suspension: a batch that suspends the active instances of a filter."""
    body = decode_optional(request, _batch_decoder, services.settings)
    check_reference(body.operation_reference)
    return await _suspend(request, services, body.filter or {}, body.reason)


async def suspend_of_definition(request: Request, services: Services) -> Response:
    """POST /v2/process-definitions/{key}/instance-suspension: a batch for the active instances of a definition."""
    body = decode_optional(request, _definition_decoder, services.settings)
    check_reference(body.operation_reference)
    key = await _definition(request, services, SUSPEND_PROCESS_INSTANCE)
    return await _suspend(request, services, {"processDefinitionKey": str(key)}, body.reason)


async def resume_of_definition(request: Request, services: Services) -> Response:
    """POST /v2/process-definitions/{key}/instance-resumption: a batch for the suspended instances of a definition."""
    body = decode_optional(request, _definition_resumption_decoder, services.settings)
    check_reference(body.operation_reference)
    key = await _definition(request, services, RESUME_PROCESS_INSTANCE)
    filter = {"processDefinitionKey": str(key)}
    return await batch_operations.create_or_forecast(request, services, RESUME_PROCESS_INSTANCE, INSTANCES_PATH, filter)


async def _suspend(request: Request, services: Services, filter: Mapping[str, Any], reason: str | None) -> Response:
    _note(request, reason)
    plan = None if reason is None else SuspensionPlan(reason)
    return await batch_operations.create_or_forecast(
        request, services, SUSPEND_PROCESS_INSTANCE, INSTANCES_PATH, filter, plan
    )


async def _definition(request: Request, services: Services, type: str) -> int:
    """The key of the definition in the path. Raises Problem 404, or 403 if the caller may not change its instances."""
    key = request.key("processDefinitionKey")
    permissions = {permission: authorise(request.caller, permission) for permission in needed(type)}
    process = await read_of(
        services, request.tenants, lambda connection, tenants: process_of(connection, PROCESS_DEFINITIONS, key, tenants)
    )
    if process is None:
        raise not_found(PROCESS_DEFINITIONS.name, key)
    for permission, allowed in permissions.items():
        if allowed is not None and process not in allowed.ids:
            raise denied(permission)
    return key
