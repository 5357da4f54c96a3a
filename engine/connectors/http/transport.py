"""HTTP connections to checked addresses, with a bounded pool.

A name is resolved once, each of its addresses is checked, and the connection goes to a checked address. A name that
resolves to another address a moment later (DNS rebinding) has no effect. TLS and the header Host keep the name.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

import httpcore
import httpx
import trio

from vivero.engine.connectors.http.addresses import AddressPolicy

KEEP_ALIVE_S = 15.0

Resolve = Callable[[str, int], Awaitable[list[str]]]
Origin = tuple[str, str, int | None]


MOST_LOOKUPS = 20
_lookups = trio.lowlevel.RunVar[trio.CapacityLimiter]("lookups of connectors")


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order of the system. Raises OSError, UnicodeError.

    Its threads are not those of the engine, which names that no server answers for would take for half a minute.
    """
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        found = look_up(flags=socket.AI_NUMERICHOST)
    except socket.gaierror:  # a name
        found = await trio.to_thread.run_sync(look_up, limiter=_limiter(), abandon_on_cancel=True)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _limiter() -> trio.CapacityLimiter:
    try:
        return _lookups.get()
    except LookupError:
        _lookups.set(made := trio.CapacityLimiter(MOST_LOOKUPS))
        return made


async def checked_addresses(host: str, port: int, policy: AddressPolicy, resolve: Resolve = resolve) -> list[str]:
    """The addresses of a host. Raises ForbiddenAddress if one of them is not allowed; OSError, UnicodeError."""
    addresses = await resolve(host, port)
    for address in addresses:
        policy.check(host, address)
    return addresses


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """One for all connections: reading the certificates takes long."""
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
            addresses = await checked_addresses(host, port, self._policy, self._resolve)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"the name of the host cannot be resolved: {error}") from error
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
    """The content of a response. `closed()` is called once."""

    def __init__(self, content: Any, closed: Callable[[], None]) -> None:
        self._content = content
        self._closed: Callable[[], None] | None = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for part in self._content:
                yield part

    async def aclose(self) -> None:
        try:
            with _as_httpx():
                await self._content.aclose()
        finally:
            closed, self._closed = self._closed, None
            if closed is not None:
                closed()


class CheckedTransport(httpx.AsyncBaseTransport):
    """httpx's transport on connections of httpcore with `CheckedNetwork`. It ignores the proxies of the environment.

    A pool of httpcore looks at all of its connections for each request. So each connection has a pool of its own, and
    this class chooses among them.
    """

    def __init__(self, policy: AddressPolicy, connections: int, resolve: Resolve = resolve) -> None:
        self._network = CheckedNetwork(policy, resolve)
        self._most = connections
        self._places = trio.Semaphore(connections)
        self._pools: list[httpcore.AsyncConnectionPool] = []
        self._idle: dict[Origin, list[httpcore.AsyncConnectionPool]] = {}
        """Those that no request uses, by the origin that they are connected to."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises httpx.HTTPError, ForbiddenAddress."""
        target = request.url
        origin = target.scheme, target.host, target.port
        url = httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
        sent = httpcore.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        await self._places.acquire()
        pool = self._take(origin)
        try:
            with _as_httpx():
                response = await pool.handle_async_request(sent)
        except BaseException:
            self._give_back(pool, origin)
            raise
        content = _Content(response.stream, partial(self._give_back, pool, origin))
        return httpx.Response(response.status, headers=response.headers, stream=content, extensions=response.extensions)

    def _take(self, origin: Origin) -> httpcore.AsyncConnectionPool:
        """A pool that is connected to the origin, a new one, or one that is connected to another origin."""
        if origin not in self._idle:
            if len(self._pools) < self._most:
                return self._make()
            origin = next(iter(self._idle))
        found = self._idle[origin]
        pool = found.pop()
        if not found:
            del self._idle[origin]
        return pool

    def _make(self) -> httpcore.AsyncConnectionPool:
        pool = httpcore.AsyncConnectionPool(
            ssl_context=tls_context(), max_connections=1, keepalive_expiry=KEEP_ALIVE_S, network_backend=self._network
        )
        self._pools.append(pool)
        return pool

    def _give_back(self, pool: httpcore.AsyncConnectionPool, origin: Origin) -> None:
        self._idle.setdefault(origin, []).append(pool)
        self._places.release()

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()


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
