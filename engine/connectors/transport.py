"""HTTP connections to checked addresses, with a bounded pool.

A name is resolved once, each of its addresses is checked, and the connection goes to a checked address. A name that
resolves to another address a moment later (DNS rebinding) has no effect. TLS and the header Host keep the name.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import httpcore
import httpx
import trio

from vivero.engine.connectors.addresses import AddressPolicy

KEEP_ALIVE_S = 15.0

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order of the system. Raises OSError."""
    found = await trio.socket.getaddrinfo(host, port, type=trio.socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """One for all clients: reading the certificates takes long."""
    return httpx.create_ssl_context()


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to allowed addresses only."""

    def __init__(self, policy: AddressPolicy, resolve: Resolve = resolve) -> None:
        self._policy = policy
        self._resolve = resolve
        self._network = httpcore.TrioBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address that answers. Raises ForbiddenAddress if one of them is not allowed."""
        try:
            with trio.fail_after(float("inf") if timeout is None else timeout):
                return await self._connect(host, port, local_address, socket_options)
        except trio.TooSlowError as error:
            raise httpcore.ConnectTimeout("no connection within the time limit") from error

    async def _connect(
        self, host: str, port: int, local_address: str | None, options: Iterable[Any] | None
    ) -> httpcore.AsyncNetworkStream:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name of the host cannot be resolved: {error}") from error
        for address in addresses:
            self._policy.check(host, address)
        failure: httpcore.ConnectError | None = None
        for address in addresses:
            try:
                return await self._network.connect_tcp(
                    address, port, local_address=local_address, socket_options=options
                )
            except httpcore.ConnectError as error:
                failure = error
        raise failure or httpcore.ConnectError("the host has no address")

    async def sleep(self, seconds: float) -> None:
        await trio.sleep(seconds)


class _Content(httpx.AsyncByteStream):
    """The content of a response."""

    def __init__(self, content: Any) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for part in self._content:
                yield part

    async def aclose(self) -> None:
        with _as_httpx():
            await self._content.aclose()


class CheckedTransport(httpx.AsyncBaseTransport):
    """httpx's transport on a pool of httpcore with `CheckedNetwork`. It ignores the proxies of the environment."""

    def __init__(self, policy: AddressPolicy, connections: int, resolve: Resolve = resolve) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_tls(),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_S,
            network_backend=CheckedNetwork(policy, resolve),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises httpx.HTTPError, ForbiddenAddress."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        sent = httpcore.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        with _as_httpx():
            response = await self._pool.handle_async_request(sent)
        return httpx.Response(
            response.status, headers=response.headers, stream=_Content(response.stream), extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


_TIMEOUTS = (httpcore.TimeoutException,)
_NETWORK = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol)


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Errors of httpcore become those of httpx."""
    try:
        yield
    except _TIMEOUTS as error:
        raise httpx.TimeoutException(str(error) or "the server did not answer within the time limit") from error
    except _NETWORK as error:
        raise httpx.NetworkError(str(error) or type(error).__name__) from error
