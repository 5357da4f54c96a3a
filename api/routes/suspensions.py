"""Suspend and resume process instances (docs/suspension.md)."""

from __future__ import annotations

from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.http.decoding import Body, Int64, Violations, check_reference, decode_optional, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.services import Services
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance

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


_suspension_decoder, _resumption_decoder = decoder(SuspensionBody), decoder(ResumptionBody)


async def suspend(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/suspension."""
    key = request.key("processInstanceKey")
    body = decode_optional(request, _suspension_decoder, services.settings)
    check_reference(body.operation_reference)
    if body.reason is not None:
        found = Violations()
        found.require("reason", body.reason)
        found.longest("reason", body.reason, REASON_CHARACTERS)
        found.check()
        request.note = body.reason
    command = SuspendInstance(key, body.include_called or False, body.reason)
    return await submit_or_try(request, services, command, key)


async def resume(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/resumption."""
    key = request.key("processInstanceKey")
    body = decode_optional(request, _resumption_decoder, services.settings)
    check_reference(body.operation_reference)
    return await submit_or_try(request, services, ResumeInstance(key, body.include_called or False), key)
