"""Deployed resources: delete."""

from __future__ import annotations

from vivero.api import commands
from vivero.api.decoding import Body, Int64, check_reference, decode_optional, decoder
from vivero.api.problems import invalid_argument
from vivero.api.request import Request
from vivero.api.response import Response, json_response
from vivero.api.services import Services
from vivero.engine.core.records.catalogue import DeleteResource


class DeletionBody(Body, frozen=True):
    operation_reference: Int64 | None = None
    delete_history: bool | None = None


_deletion_decoder = decoder(DeletionBody)


async def delete(request: Request, services: Services) -> Response:
    """POST /v2/resources/{key}/deletion: no new instances start. The definition is removed after its last instance."""
    key = request.key("resourceKey")
    body = decode_optional(request, _deletion_decoder, services.settings)
    check_reference(body.operation_reference)
    if body.delete_history:
        raise invalid_argument("Deleting the history of a resource (deleteHistory) is not supported")
    submitted = await commands.submit(request, services, DeleteResource(key), key)
    if submitted.outcome is None:
        return await commands.accepted(services, submitted.appended)
    document = {
        "resourceKey": str(key),
        "batchOperation": None,
        "commandPosition": str(submitted.appended.position),
    }
    return json_response(document, submitted.position)
