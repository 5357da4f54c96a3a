"""The newest commands of the log, page by page."""

from __future__ import annotations

from typing import Any

from vivero.api.http.decoding import check_limit, number_in_query
from vivero.api.http.request import INT64_MAX, Request
from vivero.api.http.response import Response, iso_time, json_response
from vivero.api.reading import read, read_of
from vivero.api.services import Services
from vivero.storage.access.tenants import names_one
from vivero.storage.log import recent_commands
from vivero.storage.log.recent_commands import RecentCommand

MAX_LIMIT = 1000


async def get(request: Request, services: Services) -> Response:
    """GET /v2/commands: newest first. `partitionId`, `limit`; `before`: a page's `next`."""
    before, limit = number_in_query(request, "before", INT64_MAX), number_in_query(request, "limit", 100)
    check_limit(limit, MAX_LIMIT)
    partitions = await read(services, recent_commands.partitions)
    partition = number_in_query(request, "partitionId", partitions[0])
    rows = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: recent_commands.recent(connection, partition, before, limit, tenants),
    )
    more = len(rows) == limit
    items = [_item(partition, row) for row in rows]
    return json_response({"items": items, "partitions": partitions, "next": str(rows[-1].position) if more else None})


def _item(partition: int, row: RecentCommand) -> dict[str, Any]:
    rejected = row.rejection
    status = "PENDING" if row.processed_at_ms is None else "PROCESSED" if rejected is None else "REJECTED"
    return {
        "commandPosition": str(row.position),
        "partitionId": partition,
        "intent": row.intent,
        "change": row.change,
        "key": None if row.key is None else str(row.key),
        "tenantId": row.tenant if names_one(row.tenant) else None,  # a command by key names all of its sender
        "status": status,
        "appendedAt": iso_time(row.appended_at_ms),
        "processedAt": None if row.processed_at_ms is None else iso_time(row.processed_at_ms),
        "rejection": None if rejected is None else {"code": rejected.code, "reason": rejected.reason},
    }
