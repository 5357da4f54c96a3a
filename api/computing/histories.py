"""Documents of what happened: the events of instances and commands, and their traces. Compute processes import it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec

from vivero.api.http.response import encode, iso_time
from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.records.codec import decode_command, decode_events
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.modifications import InstanceModified
from vivero.core.trace import Trace
from vivero.storage.log.command_log import CommandEvents, HistoryRow, LoggedCommand

_FIRST_KEY = 1 << PARTITION_SHIFT
_UNDERSCORE = re.compile(r"_(\w)")


class _Conditional(msgspec.Struct):
    """The part of a conditional command that names its change."""

    change: str


_conditional_decoder = msgspec.json.Decoder(_Conditional)


def events_page(rows: Sequence[HistoryRow], next_after: str | None) -> bytes:
    """A page of the events of an instance tree."""
    return encode({"items": items_of(rows), "next": next_after})


def items_of(rows: Sequence[HistoryRow]) -> list[dict[str, Any]]:
    """One item per command, with its events and those of its follow-ups. `intent`: null once the command is deleted.

    Events that follow from an earlier command have an item of their own, which names that command.
    """
    items = []
    for (position, origin), of_command in groupby(rows, key=lambda row: (row.position, row.origin)):
        intent, change, at_ms, events = None, None, 0, []
        for row in of_command:
            intent, at_ms = intent or row.intent, row.processed_at_ms
            change = change or _change_in(row.intent, row.payload)
            events += [
                {"type": type(event).__name__, **_fields_of(event)} for event in decode_events(row.events, row.version)
            ]
        if origin is not None and not events:
            continue  # only an answer to a request that waited
        about = {
            "commandPosition": str(position),
            "requestPosition": None if origin is None else str(origin),
            "at": iso_time(at_ms),
            "intent": intent,
            "change": change,
        }
        items.append({**about, "events": events})
    return items


def _change_in(intent: str | None, payload: bytes | None) -> str | None:
    """The intent of the command that a conditional one (`If-Match`) contains; None in others, and after an erasure."""
    if intent != ChangeIfMatch.intent or not payload:
        return None
    return _conditional_decoder.decode(payload).change


def trace_page(rows: Sequence[HistoryRow], next_after: str | None) -> bytes:
    """A page of the trace of an instance tree: for each command lines for itself, its events and its follow-ups'."""
    trace = Trace()
    items = []
    for position, of_command in groupby(rows, key=lambda row: row.position):
        lines, at_ms = [], 0
        for row in of_command:
            at_ms = row.processed_at_ms
            if row.seq == 0 and row.intent is not None and row.payload:  # empty: erased
                lines.append(trace.command(decode_command(row.intent, row.payload)))
            lines += trace.lines(decode_events(row.events, row.version))
        items.append({"commandPosition": str(position), "at": iso_time(at_ms), "lines": lines})
    return encode({"items": items, "next": next_after})


def command_document(command: LoggedCommand) -> bytes:
    """A command of the log with its outcome and its events."""
    outcome = command.outcome
    own = command.rows[0].rejection if command.rows else None  # one that answers another command has no outcome
    rejection = own if outcome is None else outcome.rejection
    response = None if outcome is None or outcome.response is None else msgspec.json.decode(outcome.response)
    status = "PENDING" if not command.rows else "PROCESSED" if rejection is None else "REJECTED"
    document = {
        "commandPosition": str(command.position),
        "partitionId": command.partition,
        "intent": command.intent,
        "change": _change_in(command.intent, command.payload),
        "key": None if command.key is None else str(command.key),
        "tenantId": command.tenant,
        "status": status,
        "appendedAt": iso_time(command.appended_at_ms),
        "processedAt": iso_time(command.rows[0].processed_at_ms) if command.rows else None,
        "rejection": None if rejection is None else {"code": rejection.code, "reason": rejection.reason},
        "response": _on_the_wire(response),
        "events": [event for row in command.rows for event in _events(row)],
    }
    return encode(document)


def _events(row: CommandEvents) -> list[dict[str, Any]]:
    at = iso_time(row.processed_at_ms)
    return [
        {"seq": row.seq, "type": type(event).__name__, "at": at, **_fields_of(event)}
        for event in decode_events(row.events, row.version)
    ]


def _fields_of(event: msgspec.Struct) -> dict[str, Any]:
    """The fields of an event by their names in the API. A field `type` is renamed, because each event has a type."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    if isinstance(event, InstanceModified):
        del fields["former"]  # an undo needs it, and other events have told it
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
