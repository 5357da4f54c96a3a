"""Webhooks: which there are, and the call of one (docs/connectors.md)."""

from __future__ import annotations

from typing import Any

from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services
from vivero.engine.connectors.inbound.webhook_registry import Claim


async def receive(request: Request, services: Services) -> Response:
    """POST /inbound/{path} (GET, PUT, DELETE): call the webhook of the path."""
    path = request.params["path"]
    claim = None if services.files.webhooks is None else await services.files.webhooks.registry.find(path)
    if claim is None or services.files.webhooks is None:
        raise Problem(404, "NOT_FOUND", f"There is no webhook with the path '{path[:200]}'")
    services.files.webhooks.limit(path, request.owner)
    from vivero.api.routes import inbound  # the libraries of HTTP and of tokens, which a node has with connectors only

    return await inbound.call(request, services, claim)


async def search(_request: Request, services: Services) -> Response:
    """GET /webhooks: the webhooks of the latest versions of all processes."""
    claims = [] if services.files.webhooks is None else await services.files.webhooks.registry.all()
    return json_response({"items": list(map(_claim, claims)), "page": {"totalItems": len(claims)}})


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "path": claim.webhook.path,
        "method": claim.webhook.method.upper(),
        "processDefinitionId": claim.process_id,
        "processDefinitionKey": str(claim.definition_key),
        "elementId": claim.webhook.element_id,
        "tenantId": claim.tenant,
        "state": "CONFLICT" if claim.conflict else "ACTIVE",
    }
