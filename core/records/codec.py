"""Encode and decode all commands and events for the logs."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_

import msgspec

from vivero.core.records import (
    ad_hoc,
    business_ids,
    catalogue,
    compensations,
    complex_gateways,
    conditional_changes,
    conditionals,
    decision_evaluations,
    decisions,
    instances,
    jobs,
    messages,
    migrations,
    modifications,
    signals,
    slots,
    suspensions,
    timers,
    user_tasks,
)
from vivero.core.records.base import Command, Event

FAMILIES = (
    ad_hoc,
    business_ids,
    catalogue,
    compensations,
    complex_gateways,
    conditional_changes,
    conditionals,
    decision_evaluations,
    decisions,
    instances,
    jobs,
    messages,
    migrations,
    modifications,
    signals,
    slots,
    suspensions,
    timers,
    user_tasks,
)
"""The modules of records: a record that is in none of them is not known."""
INTENTS: dict[str, type[Command]] = {command.intent: command for command in Command.__subclasses__()}
"""Name in the log → command."""


class UnknownFormat(Exception):
    """A row of a log has a format that this program does not know. The message says which, and what to do."""


_FORMAT = b'{"v":'
"""The beginning of a command of a later format than 1: its number comes before its fields."""


class _CommandDecoders(dict[str, msgspec.json.Decoder[Command]]):
    """By intent. Each is made at its first use: all of them would take a twentieth of the time of a start."""

    def __missing__(self, intent: str) -> msgspec.json.Decoder[Command]:
        decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(INTENTS[intent])
        self[intent] = decoder
        return decoder


_command_decoders = _CommandDecoders()


def encode_command(command: Command) -> bytes:
    """The payload of `command` in the log: a JSON object in UTF-8. A format later than 1 comes first in it, as `v`."""
    payload = msgspec.json.encode(command)
    if command.format == 1:
        return payload
    return b"%s%d%s%s" % (_FORMAT, command.format, b"," if len(payload) > len("{}") else b"", payload[1:])


def check_encoding(payload: bytes) -> None:
    """Raises UnicodeDecodeError for a payload that is not UTF-8: the values in it are kept as they are.

    Most payloads are ASCII, and are not copied.
    """
    if not payload.isascii():
        payload.decode()


def decode_command(intent: str, payload: bytes) -> Command:
    """The command of a log row.

    Raises:
        KeyError: no command has this intent.
        UnknownFormat: a newer version of the program wrote it.
        msgspec.DecodeError: the payload does not have the command's shape.
    """
    if payload.startswith(_FORMAT):
        _check_format(intent, payload)
    return _command_decoders[intent].decode(payload)


def _check_format(intent: str, payload: bytes) -> None:
    number, known = _format_decoder.decode(payload).v, INTENTS[intent].format
    if number > known:
        raise UnknownFormat(
            f"the command has format {number}, and this program knows {known}: a newer version wrote it."
            " Upgrade this node"
        )


class _Format(msgspec.Struct):
    v: int


_format_decoder = msgspec.json.Decoder(_Format)


EVENTS: tuple[type[Event], ...] = tuple(Event.__subclasses__())

EVENT_FORMAT = 1
"""Stored with every row of the event log; a change of meaning (not a new last field) needs the next number."""


@cache
def _events_decoder() -> msgspec.json.Decoder[tuple[Event, ...]]:
    """Made at its first use: it knows all events, and a node that only goes on with commands reads none."""
    return msgspec.json.Decoder(tuple[reduce(or_, EVENTS), ...])  # type: ignore[misc]


def encode_events(events: list[Event]) -> bytes:
    """A JSON array of the events, each a JSON array headed by its class name."""
    return msgspec.json.encode(events)


def decode_events(text: bytes | str, format: int = EVENT_FORMAT) -> tuple[Event, ...]:
    """The events of a row of the event log, of the format that stands in the row.

    Raises:
        UnknownFormat: a newer version of the program wrote it.
        msgspec.DecodeError: not something that `encode_events` wrote.
    """
    check_event_format(format)
    return _events_decoder().decode(text)


def check_event_format(format: int) -> None:
    """Raise UnknownFormat for events that a newer version of the program wrote."""
    if format > EVENT_FORMAT:
        raise UnknownFormat(
            f"the events have format {format}, and this program knows {EVENT_FORMAT}: a newer version wrote them."
            " Upgrade this node"
        )


def event_names() -> frozenset[str]:
    """The names of all events."""
    return frozenset(event.__name__ for event in Event.__subclasses__())
