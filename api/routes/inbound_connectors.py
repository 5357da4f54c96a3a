"""Inbound connectors: those that receivers work, and webhooks, with their states (docs/connectors.md)."""

from __future__ import annotations

from typing import Any

from vivero.api.http.decoding import check_limit, number_in_query
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.engine.connectors.inbound.webhook_registry import Claim
from vivero.storage.background import inbound
from vivero.storage.background.inbound import InboundConnector

MAX_LIMIT = 10_000


async def search(request: Request, services: Services) -> Response:
    """GET /inbound-connectors: those of all processes; webhooks are the last.

    `limit`: the most of a page; `from`: the number of those before it. `page.totalItems` counts all.
    """
    first, limit = number_in_query(request, "from", 0), number_in_query(request, "limit", MAX_LIMIT)
    check_limit(limit, MAX_LIMIT)
    rows, received = await read(services, lambda connection: inbound.read_page(connection, first, limit))
    claims = [] if services.files.webhooks is None else await services.files.webhooks.registry.all()
    skipped = max(0, first - received)
    shown = claims[skipped : skipped + limit - len(rows)]
    items = [*map(_received, rows), *map(_webhook, shown)]
    return json_response({"items": items, "page": {"totalItems": received + len(claims)}})


def _received(row: InboundConnector) -> dict[str, Any]:
    return {
        "type": row.type,
        "processDefinitionId": row.process_id,
        "processDefinitionKey": str(row.definition_key),
        "elementId": row.element_id,
        "tenantId": row.tenant,
        "state": row.state,
        "waitingElementInstances": row.waiting,
        "events": row.events,
        "errors": row.errors,
        "lastEventTime": None if row.event_at is None else iso_time(row.event_at),
        "lastErrorTime": None if row.error_at is None else iso_time(row.error_at),
        "lastError": row.error,
        "nodeId": row.node,
        "updatedTime": iso_time(row.updated_at),
    }


def _webhook(claim: Claim) -> dict[str, Any]:
    return {
        "type": claim.webhook.type,
        "processDefinitionId": claim.process_id,
        "processDefinitionKey": str(claim.definition_key),
        "elementId": claim.webhook.element_id,
        "tenantId": claim.tenant,
        "state": "CONFLICT" if claim.conflict else "ACTIVE",
    }
