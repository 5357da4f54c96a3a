"""Properties of messages: contexts of a model as AMQP has them, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pika import spec

from vivero.engine.connectors.errors import bad_input
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.receivers.texts import decoded, json_or_text, storable

NAMES = {
    "contentType": "content_type",
    "contentEncoding": "content_encoding",
    "headers": "headers",
    "deliveryMode": "delivery_mode",
    "priority": "priority",
    "correlationId": "correlation_id",
    "replyTo": "reply_to",
    "expiration": "expiration",
    "messageId": "message_id",
    "timestamp": "timestamp",
    "type": "type",
    "userId": "user_id",
    "appId": "app_id",
    "clusterId": "cluster_id",
}
"""The properties as models name them, and as pika does."""
NUMBERS = {"deliveryMode": (1, 2), "priority": (0, 255)}
MOST_TEXT_BYTES = 255
PERSISTENT = 2
MOST_DEPTH = 20
INTEGERS = range(-(2**63), 2**63)


def properties_of(given: Mapping[str, Any], body: Any, id: str) -> spec.BasicProperties:
    """The properties of a message: persistent, with the type of its body and an id, if the model says nothing else.

    Raises ConnectorError.
    """
    values = {
        "deliveryMode": PERSISTENT,
        "contentType": "text/plain" if isinstance(body, str) else "application/json",
        "messageId": id,
        **{name: value for name, value in given.items() if value is not None},
    }
    if unknown := sorted(values.keys() - NAMES.keys()):
        raise bad_input(f"message.properties must not have {unknown[0][:100]}: allowed are {', '.join(NAMES)}")
    return spec.BasicProperties(**{NAMES[name]: _property(name, value) for name, value in values.items()})


def _property(name: str, value: Any) -> Any:
    where = f"message.properties.{name}"
    if name == "headers":
        if not isinstance(value, dict):
            raise bad_input(f"{where} must be a context")
        return table_of(value, where)
    if name == "timestamp":
        return _timestamp(value, where)
    if name in NUMBERS:
        least, most = NUMBERS[name]
        if isinstance(value, bool) or not str(value).isascii() or not str(value).isdigit():
            raise bad_input(f"{where} must be a whole number from {least} to {most}")
        if not least <= (number := int(str(value)[:5])) <= most:
            raise bad_input(f"{where} must be a whole number from {least} to {most}")
        return number
    text = text_of(value)
    if len(text.encode(errors="surrogatepass")) > MOST_TEXT_BYTES:
        raise bad_input(f"{where} has more than {MOST_TEXT_BYTES} bytes")
    return text


def _timestamp(value: Any, where: str) -> int:
    """Seconds since 1970, which may also be written as a date and time."""
    try:
        if isinstance(value, str) and not value.strip().isdigit():
            moment = datetime.fromisoformat(value.strip())
            return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        seconds = int(value)
    except (ValueError, TypeError, OverflowError):
        seconds = -1
    if isinstance(value, bool) or seconds not in range(2**63):
        raise bad_input(f"{where} must be the seconds since 1970, or a date and time")
    return seconds


def table_of(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A context as a table of AMQP. Raises ConnectorError."""
    return {_name(name, where): _field(value, where, MOST_DEPTH) for name, value in given.items()}


def _name(name: str, where: str) -> str:
    if len(name.encode(errors="surrogatepass")) > MOST_TEXT_BYTES:
        raise bad_input(f"a name in {where} has more than {MOST_TEXT_BYTES} bytes")
    return name


def _field(value: Any, where: str, depth: int) -> Any:
    if depth == 0:
        raise bad_input(f"{where} is nested more than {MOST_DEPTH} times")
    if isinstance(value, dict):
        return {_name(name, where): _field(item, where, depth - 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_field(item, where, depth - 1) for item in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | Decimal) and value == int(value) and int(value) in INTEGERS:
        return int(value)
    return text_of(value)  # numbers of AMQP are too small for others


def event_of(tag: str, properties: spec.BasicProperties, body: bytes) -> dict[str, Any]:
    """A message as expressions see it. A body that is JSON is a value, any other a text."""
    found = {name: _value(getattr(properties, each), MOST_DEPTH) for name, each in NAMES.items()}
    shown = {name: value for name, value in found.items() if value is not None}
    return {"message": {"consumerTag": tag, "body": json_or_text(decoded(body)), "properties": shown}}


def _value(value: Any, depth: int) -> Any:
    """A value of AMQP as FEEL has it. What is nested too deep, or is of no kind that it knows, is a text."""
    if isinstance(value, bytes | str):
        return storable(decoded(value))
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, bool | int | Decimal):
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if depth and isinstance(value, dict):
        return {_value(name, depth): _value(item, depth - 1) for name, item in value.items()}
    if depth and isinstance(value, list):
        return [_value(item, depth - 1) for item in value]
    return storable(str(value)[:MOST_TEXT_BYTES])
