"""Responses: status, headers, body."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime

import msgspec

Header = tuple[bytes, bytes]

JSON: Header = (b"content-type", b"application/json")
PROBLEM_JSON: Header = (b"content-type", b"application/problem+json")
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
"""The content is of its type, whatever it looks like."""
SANDBOXED: tuple[Header, ...] = (NOSNIFF, (b"content-security-policy", b"default-src 'none'; sandbox"))
"""For content that somebody else wrote: a page of it runs no script, and has no session of the console."""

encode = msgspec.json.Encoder(decimal_format="number").encode


class Response:
    """A response. `undelivered` is called if sending it fails, to undo its effects.

    `rest`: what follows `body`, of `more_bytes` bytes; it is read while it is sent. None: nothing. `more_bytes` None:
    nobody knows how many.
    """

    __slots__ = ("body", "headers", "more_bytes", "rest", "status", "undelivered")

    def __init__(
        self,
        status: int,
        body: bytes = b"",
        headers: tuple[Header, ...] = (),
        undelivered: Callable[[], Awaitable[None]] | None = None,
        rest: AsyncGenerator[bytes] | None = None,
        more_bytes: int | None = 0,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = headers
        self.undelivered = undelivered
        self.rest = rest
        self.more_bytes = more_bytes

    @property
    def is_whole(self) -> bool:
        """Whether the body is all, and nothing is to be undone."""
        return self.rest is None and self.undelivered is None and self.more_bytes == 0


def json_response(body: object, *headers: Header, status: int = 200) -> Response:
    """A response with `body` as JSON. Bytes must be JSON already."""
    return Response(status, body if type(body) is bytes else encode(body), (JSON, *headers))


def no_content(*headers: Header) -> Response:
    return Response(204, b"", headers)


def position_header(position: int) -> Header:
    """The header with the command's position in the log, for `GET /v2/commands/{position}`."""
    return (b"command-position", b"%d" % position)


def iso_datetime(time: datetime) -> str:
    """A time of the database in the same format."""
    return iso_time(round(time.timestamp() * 1000))


def iso_time(epoch_ms: int) -> str:
    """Epoch milliseconds in the API's format of times: ISO 8601, milliseconds, Z."""
    seconds, ms = divmod(epoch_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"
