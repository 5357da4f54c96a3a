"""The events of a process instance and of those that it called, page by page, for programs that replay them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from vivero.api.request import Request
from vivero.api.response import Response, iso_time, json_response
from vivero.api.routes.commands import fields_of
from vivero.api.routes.traces import history_page
from vivero.api.services import Services
from vivero.engine.core.records.codec import decode_events
from vivero.storage.log import HistoryRow


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/events: for the whole instance tree, oldest first. `after`: a page's `next`."""
    rows, next_after = await history_page(request, services)
    return json_response({"items": items_of(rows), "next": next_after})


def items_of(rows: list[HistoryRow]) -> list[dict[str, Any]]:
    """One item per command, with its events and those of its follow-ups. `intent`: null once the command is deleted."""
    items = []
    for position, of_command in groupby(rows, key=lambda row: row.position):
        intent, at_ms, events = None, 0, []
        for row in of_command:
            intent, at_ms = intent or row.intent, row.processed_at_ms
            events += [
                {"type": type(event).__name__, **fields_of(event)} for event in decode_events(row.events, row.version)
            ]
        items.append({"commandPosition": str(position), "at": iso_time(at_ms), "intent": intent, "events": events})
    return items
