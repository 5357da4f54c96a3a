"""Cursors: the sort values and the key of a row, as base64 of a JSON array. A page begins after its cursor."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Any

import msgspec

MAX_CURSOR = 20_000
"""Characters of a cursor. It holds whole sort values, and texts may be long."""


NO_CURSOR = "it is not a cursor; a cursor is the startCursor or endCursor of an answer to the same search"


class BadCursor(Exception):
    """The text is not a cursor of this search."""


def encode_cursor(values: bytes) -> str:
    """The cursor of a row; `values` is a JSON array."""
    return base64.b64encode(values).decode("ascii")


def decode_cursor(cursor: str) -> list[Any]:
    """The values of a cursor, whose types are not checked. Raises BadCursor."""
    if len(cursor) > MAX_CURSOR:
        raise BadCursor(f"a cursor has at most {MAX_CURSOR} characters")
    try:
        values = msgspec.json.decode(base64.b64decode(cursor, validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadCursor(NO_CURSOR) from error
    if type(values) is not list:
        raise BadCursor(NO_CURSOR)
    return values


def check_text(value: Any) -> str:
    """A text that PostgreSQL can hold. Raises BadCursor."""
    if type(value) is not str or "\0" in value:
        raise BadCursor("a text is expected")
    return value


def check_number(value: Any, bits: int) -> int:
    """A whole number that fits `bits` bits. Raises BadCursor."""
    if type(value) is not int or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise BadCursor("a number is expected")
    return value


def check_flag(value: Any) -> bool:
    """True or false. Raises BadCursor."""
    if type(value) is not bool:
        raise BadCursor("true or false is expected")
    return value


def check_time(value: Any) -> datetime:
    """A time with a zone. Raises BadCursor."""
    try:
        return as_utc(datetime.fromisoformat(check_text(value)))
    except ValueError as error:
        raise BadCursor("a time with a zone is expected") from error


def as_utc(time: datetime) -> datetime:
    """The same moment in UTC: PostgreSQL supports no offsets beyond 16 hours. Raises ValueError without a zone."""
    if time.tzinfo is None:
        raise ValueError("a time needs a zone")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time is before the year 1, or after 9999") from error
