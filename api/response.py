"""A response: status, headers, body."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import msgspec

Header = tuple[bytes, bytes]

JSON: Header = (b"content-type", b"application/json")
PROBLEM_JSON: Header = (b"content-type", b"application/problem+json")

encode = msgspec.json.Encoder(decimal_format="number").encode


class Response:
    """`undelivered` is called when the response could not be handed to the client: to take back what it gave away."""

    __slots__ = ("body", "headers", "status", "undelivered")

    def __init__(
        self,
        status: int,
        body: bytes = b"",
        headers: tuple[Header, ...] = (),
        undelivered: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = headers
        self.undelivered = undelivered


def json_response(body: object, *headers: Header, status: int = 200) -> Response:
    """`body` as JSON; bytes are JSON already."""
    return Response(status, body if type(body) is bytes else encode(body), (JSON, *headers))


def no_content(*headers: Header) -> Response:
    return Response(204, b"", headers)


def position_header(position: int) -> Header:
    """Where in the log the command stands: `GET /v2/commands/{position}` shows what came of it."""
    return (b"command-position", b"%d" % position)


def iso_time(epoch_ms: int) -> str:
    """Epoch milliseconds as the API writes times: ISO 8601, milliseconds, Z."""
    seconds, ms = divmod(epoch_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"
