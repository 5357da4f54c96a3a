"""The deliveries of the outbox webhook: what waits, and dead letters. Camunda's API has no such resource."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec

from vivero.api.access.audit import changing
from vivero.api.http.decoding import Body, decode_optional, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response, no_content
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.storage.background import outbox
from vivero.storage.background.outbox import DeliveryView, EventId
from vivero.storage.postgres.driver import Connection

STATES = ("pending", "held", "dead", "dropped")
MAX_LIMIT = 1000

Change = Callable[[Connection, EventId, int], Awaitable[bool]]


class DeliveryFilter(Body, frozen=True):
    state: str | None = None


class DeliveryPage(Body, frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 100


class DeliverySearchBody(Body, frozen=True):
    filter: DeliveryFilter = DeliveryFilter()
    page: DeliveryPage = DeliveryPage()


_search_decoder = decoder(DeliverySearchBody)


async def search(request: Request, services: Services) -> Response:
    """POST /outbox/search {filter?: {state}, page?: {limit}}: dead letters first, then what waits."""
    body = decode_optional(request, _search_decoder, services.settings)
    state = body.filter.state
    if state not in (None, *STATES):
        raise unexpected_value(state, "filter.state", STATES)
    found = await read(services, lambda connection: outbox.search(connection, state, limit=body.page.limit))
    counts = await read(services, outbox.counts)
    total = sum(counts.values()) if state is None else counts.get(state, 0)
    return json_response({"items": [_shown(each) for each in found], "page": {"totalItems": total}, "counts": counts})


async def get(request: Request, services: Services) -> Response:
    """GET /outbox/{eventId}: one delivery, with its document. What is delivered is gone: 404."""
    found = await _found(request, services)
    return json_response(_shown(found) | {"document": msgspec.Raw(found.document.encode())})


async def retry(request: Request, services: Services) -> Response:
    """POST /outbox/{eventId}/retry: a dead letter gets all of its attempts again. 409 if it is not one."""
    return await _change(request, services, outbox.retry)


async def drop(request: Request, services: Services) -> Response:
    """DELETE /outbox/{eventId}: a dead letter is given up, and the events behind it follow. 409 if it is not one."""
    return await _change(request, services, outbox.drop)


async def _change(request: Request, services: Services, change: Change) -> Response:
    found = await _found(request, services)
    async with changing(request, services) as connection:
        if not await change(connection, found.id, found.attempts):
            raise Problem(409, "INVALID_STATE", f"The delivery of event '{found.id}' is not a dead letter")
    return no_content()


async def _found(request: Request, services: Services) -> DeliveryView:
    id = EventId.parse(request.params["eventId"])
    if id is None:
        raise invalid_argument("The id of an event has three numbers: position-seq-ordinal")
    found = await read(services, lambda connection: outbox.search(connection, id=id, limit=1))
    if not found:
        raise not_found("Delivery", str(id), by="id")
    return found[0]


def _shown(each: DeliveryView) -> dict[str, Any]:
    return {
        "eventId": str(each.id),
        "type": each.type,
        "state": each.state,
        "attempts": each.attempts,
        "due": iso_time(each.due_ms),
        "error": each.error,
        "rootProcessInstanceKey": str(each.root) if each.root else None,
        "partitionId": each.id.partition,
    }
