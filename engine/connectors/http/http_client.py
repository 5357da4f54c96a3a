"""Calls of other systems: bounded redirects and responses, checked addresses, credentials for the first host only."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx
import trio

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.addresses import ForbiddenAddress
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.requests import DEFAULT_TIMEOUT_S, HttpRequest, check_url, with_parameters
from vivero.engine.connectors.http.traces import called
from vivero.engine.connectors.http.transport import CheckedTransport, Resolve, resolve
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.tracing.tracer import Tracer

USER_AGENT = "vivero-connectors"
REDIRECTS = (301, 302, 303, 307, 308)
KEEP_METHOD = (307, 308)
OPEN_HEADERS = frozenset(("accept", "accept-language"))
"""Headers of the model that another host gets, too. All others may contain secrets."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A whole response. Names of headers are as the server wrote them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for each, value in self.headers if each.lower() == name), None)


@dataclass(frozen=True, slots=True)
class _Hop:
    """One request of a call, and the headers that only its first host may see."""

    request: HttpRequest
    private: Mapping[str, str]


class HttpClient:
    """Sends requests through one bounded pool of connections."""

    def __init__(self, settings: ConnectorSettings, resolve: Resolve = resolve, tracer: Tracer | None = None) -> None:
        self._settings, self._max_call_s, self._tracer = settings, settings.max_call_s, tracer
        self._transport = CheckedTransport(settings.addresses, settings.max_concurrent, resolve)

    @property
    def max_call_s(self) -> float:
        """The limit of a whole call."""
        return self._max_call_s

    @property
    def max_response_bytes(self) -> int:
        """The limit of a response that is not stored."""
        return self._settings.max_response_bytes

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def call(self, request: HttpRequest, credentials: Credentials) -> HttpResponse:
        """The response after redirects. Raises ConnectorError."""
        with called(self._tracer, request) as span:
            response = await self._respond(span.request, credentials)
            span.status = response.status
        return response

    async def _respond(self, request: HttpRequest, credentials: Credentials) -> HttpResponse:
        url = with_parameters(request.url, credentials.parameters)
        hop = _Hop(replace(request, url=url), credentials.headers)
        try:
            with trio.fail_after(self._max_call_s):
                return await self._follow(hop)
        except (httpx.TimeoutException, trio.TooSlowError) as error:
            raise ConnectorError("TIMEOUT", "the server did not answer within the time limit") from error
        except ForbiddenAddress as error:
            raise ConnectorError("FORBIDDEN_ADDRESS", str(error), final=True) from error
        except httpx.HTTPError as error:
            raise ConnectorError("CONNECTION_FAILED", str(error) or type(error).__name__) from error

    async def post(self, url: httpx.URL, headers: Mapping[str, str], content: bytes) -> tuple[int, bytes]:
        """Status and body of a request that follows no redirects. Raises ConnectorError."""
        timeout_s = DEFAULT_TIMEOUT_S
        request = HttpRequest("POST", url, headers, content, timeout_s, timeout_s, timeout_s, False)
        response = await self.call(request, Credentials())
        return response.status, response.body

    async def _follow(self, hop: _Hop) -> HttpResponse:
        for _ in range(self._settings.max_redirects + 1):
            response = await self._send(hop)
            location = response.header("location")
            if response.status not in REDIRECTS or location is None or not hop.request.follows:
                return response
            hop = _next_hop(hop, response.status, location)
        raise ConnectorError("TOO_MANY_REDIRECTS", f"more than {self._settings.max_redirects} redirects")

    async def _send(self, hop: _Hop) -> HttpResponse:
        request = hop.request
        timeouts = {"connect": request.connect_s, "read": request.read_s, "write": request.write_s, "pool": None}
        sent = httpx.Request(
            request.method,
            request.url,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip", **request.headers, **hop.private},
            content=request.content or None,
            extensions={"timeout": {name: _finite(value) for name, value in timeouts.items()}},
        )
        response = await self._transport.handle_async_request(sent)
        try:
            body = await self._body(response, request.max_response_bytes or self._settings.max_response_bytes)
        finally:
            await response.aclose()
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
        return HttpResponse(response.status_code, headers, body)

    async def _body(self, response: httpx.Response, limit: int) -> bytes:
        """The whole body. Raises ConnectorError if it is too large or cannot be unpacked."""
        body, failure = _Body(response.headers.get("content-encoding", ""), limit), None
        with trio.CancelScope() as reading:
            async for part in response.stream:  # type: ignore[union-attr]  # that of the transport
                if failure is None and (failure := body.take(part)) is not None:
                    reading.cancel()  # the next wait for data ends, and the connection is closed
        if failure is not None:
            raise failure
        return bytes(body.content)


class _Body:
    """The body of a response, up to a limit."""

    def __init__(self, encoding: str, limit: int) -> None:
        encoding = encoding.lower()
        if encoding not in ("", "identity", "gzip"):
            raise ConnectorError("BAD_RESPONSE", f"the encoding '{encoding[:50]}' of the response is not supported")
        self.content = bytearray()
        self._limit = limit
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None

    def take(self, part: bytes) -> ConnectorError | None:
        """Add a part. Returns what is wrong with the body. No more than the limit is unpacked, however well packed."""
        if self._unpacker is not None:
            try:
                part = self._unpacker.decompress(part, self._limit + 1)
            except zlib.error:
                return ConnectorError("BAD_RESPONSE", "the response is not valid gzip")
        self.content += part
        if len(self.content) <= self._limit:
            return None
        return ConnectorError("RESPONSE_TOO_LARGE", f"the response has more than {self._limit} bytes", final=True)


def _finite(value: float | None) -> float | None:
    return None if value is None or value == float("inf") else value


def _next_hop(hop: _Hop, status: int, location: str) -> _Hop:
    """The request that a redirect asks for. Another host gets neither credentials nor a body."""
    request = hop.request
    try:
        url = check_url(request.url.join(location))
    except (httpx.InvalidURL, ValueError) as error:
        raise ConnectorError("BAD_RESPONSE", "the redirect leads to a URL that is not valid") from error
    same = origin_of(url) == origin_of(request.url)
    if status in KEEP_METHOD:
        if request.content and not same:
            raise bad_input("the server redirects a request with a body to another host")
        return _Hop(replace(request, url=url, headers=_headers(request, same)), hop.private if same else {})
    method = request.method if request.method in ("GET", "HEAD") else "GET"
    headers = {name: value for name, value in _headers(request, same).items() if name.lower() != "content-type"}
    return _Hop(replace(request, method=method, url=url, headers=headers, content=b""), hop.private if same else {})


def _headers(request: HttpRequest, same: bool) -> Mapping[str, str]:
    """The headers of the model for the next host."""
    return {name: value for name, value in request.headers.items() if same or name.lower() in OPEN_HEADERS}


def origin_of(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port, which credentials are for."""
    return url.scheme, url.host, url.port
