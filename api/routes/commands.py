"""Commands of the log: their status, outcome and events."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from vivero.api.problems import not_found
from vivero.api.reading import read_of
from vivero.api.request import Request
from vivero.api.response import Response, iso_time, json_response
from vivero.api.services import Services
from vivero.engine.core.records.base import PARTITION_SHIFT
from vivero.engine.core.records.codec import decode_events
from vivero.storage import log
from vivero.storage.log import EventRow, LoggedCommand

_FIRST_KEY = 1 << PARTITION_SHIFT
_UNDERSCORE = re.compile(r"_(\w)")


async def get(request: Request, services: Services) -> Response:
    """GET /v2/commands/{position}: PENDING, PROCESSED or REJECTED, its answer, and its events."""
    position = request.key("position")
    found = await read_of(
        services, request.tenants, lambda connection, tenants: log.command(connection, position, tenants)
    )
    if found is None:
        raise not_found("Command", position, by="position")
    return json_response(_document(found))


def _document(command: LoggedCommand) -> dict[str, Any]:
    outcome = command.outcome
    rejection = None if outcome is None else outcome.rejection
    response = None if outcome is None or outcome.response is None else msgspec.json.decode(outcome.response)
    status = "PENDING" if not command.rows else "PROCESSED" if rejection is None else "REJECTED"
    return {
        "commandPosition": str(command.position),
        "partitionId": command.partition,
        "intent": command.intent,
        "key": None if command.key is None else str(command.key),
        "tenantId": command.tenant,
        "status": status,
        "appendedAt": iso_time(command.appended_at_ms),
        "processedAt": iso_time(command.rows[0].processed_at_ms) if command.rows else None,
        "rejection": None if rejection is None else {"code": rejection.code, "reason": rejection.reason},
        "response": _on_the_wire(response),
        "events": [event for row in command.rows for event in _events(row)],
    }


def _events(row: EventRow) -> list[dict[str, Any]]:
    at = iso_time(row.processed_at_ms)
    return [
        {"seq": row.seq, "type": type(event).__name__, "at": at, **fields_of(event)}
        for event in decode_events(row.events, row.version)
    ]


def fields_of(event: msgspec.Struct) -> dict[str, Any]:
    """The fields of an event by their names in the API. A field `type` is renamed, because each event has a type."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    if "type" in fields:
        fields["subject_type"] = fields.pop("type")
    if fields.get("available_at") is not None:
        fields["available_at"] = iso_time(fields["available_at"])
    return {_camel(name): _on_the_wire(value) for name, value in fields.items()}


def _camel(name: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)


def _on_the_wire(value: Any) -> Any:
    """Convert keys to strings. No other numbers are as large, because the upper bits of a key are its partition."""
    if type(value) is int and value >= _FIRST_KEY:
        return str(value)
    if isinstance(value, list | tuple):
        return [_on_the_wire(item) for item in value]
    if isinstance(value, dict):
        return {name: _on_the_wire(item) for name, item in value.items()}
    return value
