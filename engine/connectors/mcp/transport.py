"""The transport of the MCP library: connections to checked addresses, and a bound of the bytes of a whole call.

The library hides failures of its transport behind errors of its own, so the first one is kept here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Protocol

import httpx
import httpx2
import trio

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.addresses import AddressPolicy, ForbiddenAddress
from vivero.engine.connectors.http.transport import CheckedTransport
from vivero.engine.connectors.http.value_counts import MOST_VALUES, ValueCounter

CONNECTIONS = 4
"""A stream that the server opens, the requests, and the end of the session."""


class Bounds(Protocol):
    """The bounds of one call. `failure`: the first reason why it cannot go on. `status`: of HTTP, if it is an error."""

    most_bytes: int
    failure: ConnectorError | None
    status: int | None

    async def aclose(self) -> None:
        """End what is open."""


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of one call.

    `failure`: the first reason why the call cannot go on. `status`: that of the last answer, if it is an error.
    """

    def __init__(self, policy: AddressPolicy, most_bytes: int) -> None:
        self._transport = CheckedTransport(policy, CONNECTIONS)
        self.most_bytes = self._left = most_bytes
        self.failure: ConnectorError | None = None
        self.status: int | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises httpx2.HTTPError."""
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"accept-encoding"]
        sent = httpx.Request(
            request.method,
            str(request.url),
            headers=[*headers, (b"Accept-Encoding", b"identity")],
            content=await request.aread(),
            extensions=dict(request.extensions),
        )
        try:
            response = await self._transport.handle_async_request(sent)
        except ForbiddenAddress as error:
            raise self._failed(ConnectorError("FORBIDDEN_ADDRESS", str(error), final=True)) from error
        except httpx.TimeoutException as error:
            raise self._failed(ConnectorError("TIMEOUT", str(error))) from error
        except httpx.HTTPError as error:
            raise self._failed(ConnectorError("CONNECTION_FAILED", str(error) or type(error).__name__)) from error
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise self._failed(ConnectorError("BAD_RESPONSE", "the server packs an answer although it must not"))
        if request.method == "POST":
            self.status = response.status_code if response.status_code >= 400 else None
        return httpx2.Response(
            response.status_code, headers=_in_utf8(response.headers), stream=_Content(response, self), request=request
        )

    def take(self, part: bytes, values: ValueCounter) -> None:
        """Count a part of a response. Raises httpx2.HTTPError beyond the bounds."""
        self._left -= len(part)
        if self._left < 0:
            text = f"the answers of the server have more than {self.most_bytes} bytes"
            raise self._failed(ConnectorError("RESPONSE_TOO_LARGE", text, final=True))
        if values.add(part) > MOST_VALUES:
            text = f"an answer of the server has more than {MOST_VALUES} values"
            raise self._failed(ConnectorError("RESPONSE_TOO_LARGE", text, final=True))

    def lost(self, error: httpx.HTTPError) -> httpx2.HTTPError:
        """The connection ended within a response."""
        return self._failed(ConnectorError("CONNECTION_FAILED", str(error) or type(error).__name__))

    def _failed(self, failure: ConnectorError) -> httpx2.HTTPError:
        self.failure = self.failure or failure
        return httpx2.NetworkError(failure.message)

    async def aclose(self) -> None:
        await self._transport.aclose()


def _in_utf8(headers: httpx.Headers) -> list[tuple[bytes, bytes]]:
    """The headers of a response without the character set, which is always UTF-8 in this protocol."""
    return [
        (name, value.partition(b";")[0] if name.lower() == b"content-type" else value) for name, value in headers.raw
    ]


class _Content(httpx2.AsyncByteStream):
    """The content of a response. It is no generator, which Python would have to end if nobody reads its rest."""

    def __init__(self, response: httpx.Response, transport: BoundedTransport) -> None:
        self._response, self._transport = response, transport
        self._parts: AsyncIterator[bytes] | None = None
        self._values = ValueCounter()

    def __aiter__(self) -> AsyncIterator[bytes]:
        self._parts = self._response.stream.__aiter__()  # type: ignore[union-attr]  # that of the transport
        return self

    async def __anext__(self) -> bytes:
        assert self._parts is not None
        try:
            part = await anext(self._parts)
        except httpx.HTTPError as error:
            raise self._transport.lost(error) from error
        self._transport.take(part, self._values)
        return part

    async def aclose(self) -> None:
        """End the reading within the connection, whose generators end then, too."""
        if self._parts is not None:
            with trio.CancelScope() as reading, suppress(httpx.HTTPError):
                reading.cancel()
                async for _ in self._parts:
                    pass
        await self._response.aclose()
