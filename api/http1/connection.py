"""One connection: its requests in turn, and its end."""

import structlog
import trio

from vivero.api.http1.connection_capacity import ConnectionCapacity
from vivero.api.http1.exchange import Exchange
from vivero.api.http1.problems import Refusal
from vivero.api.http1.request import ParsedRequest
from vivero.api.http1.response import problem_response
from vivero.api.http1.socket_stream import Address, SocketStream
from vivero.api.http1.state import ServerState
from vivero.api.http1.wire import ClientGone, Wire

log = structlog.get_logger("vivero.api.http1")

HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


async def serve_connection(
    state: ServerState, stream: trio.abc.HalfCloseableStream, capacity: ConnectionCapacity | None = None
) -> None:
    """Serve the requests of one connection until it ends, then close the stream. Raises no Exception.

    `capacity` is the pool that the connection belongs to, by default the main one. The reserve serves only health
    checks. `Exchange` answers errors of handlers with 500. An exception here is a bug of this package, or a handler's
    error in one group with its cancellation: it is logged and ends this connection only.
    """
    wire = Wire(stream, state.settings, capacity or state.capacity, state.memory, state.known_heads)
    async with stream:
        try:
            with wire.scope:
                await _serve_requests(state, wire)
        except* Exception:  # inside, because closing in a cancelled scope would replace it by the cancellation
            log.exception("HTTP connection failed")
        finally:
            wire.parser.close()


async def _serve_requests(state: ServerState, wire: Wire) -> None:
    client, server = _addresses(wire.stream)
    idle_s = state.settings.header_timeout_s
    try:
        if await _begins_with_http2(state, wire):
            await _refuse_http2(state, wire)
            return
        while (request := await _next_request(state, wire, idle_s)) is not None:
            if wire.capacity is state.reserve:
                _check_reserved(state, request)
            if not await Exchange(state, wire, request).run(client, server):
                await _linger_if_early(wire, request)
                return
            idle_s = state.settings.keep_alive_s
    except Refusal as refusal:
        await _refuse(state, wire, refusal)
    except ClientGone:
        return


async def _begins_with_http2(state: ServerState, wire: Wire) -> bool:
    """Whether a new connection begins with the preface of HTTP/2 (RFC 9113, section 3.4), which stays in `pending`."""
    if not await _idle(state, wire, state.now + state.settings.header_timeout_s):
        return False
    since = trio.current_time()
    while len(wire.pending) < len(HTTP2_PREFACE) and HTTP2_PREFACE.startswith(wire.pending) and not wire.eof:
        if not await wire.receive(since + state.settings.header_timeout_s, since):
            raise wire.refusal("The request header did not arrive in time")
    return bytes(wire.pending[: len(HTTP2_PREFACE)]) == HTTP2_PREFACE


async def _refuse_http2(state: ServerState, wire: Wire) -> None:
    """Answer each request of a connection with HTTP/2, until the client leaves. One of the reserve ends at once."""
    from vivero.api.http1 import http2_refusals  # h2: few programs ever need it

    refusals, size = http2_refusals.Http2Refusals(), http2_refusals.SLICE_BYTES
    while not refusals.ended and (wire.pending or await _idle(state, wire, state.now + state.settings.keep_alive_s)):
        if wire.eof and not wire.pending:
            return
        data, wire.pending = wire.pending[:size], wire.pending[size:]
        await wire.transmit(refusals.received(bytes(data)))
        await trio.lowlevel.checkpoint()
        if wire.capacity is state.reserve and not wire.pending:
            break
    await wire.transmit(refusals.last_bytes())
    await wire.linger()


def _check_reserved(state: ServerState, request: ParsedRequest) -> None:
    """Raise Refusal 503 unless the request is a health check. It is the last request of its connection."""
    if request.path != state.settings.health_path:
        detail = f"The server has {state.capacity.limit} connections, its limit, and all are busy; try again later"
        raise Refusal(503, detail)
    request.keep_alive = False


async def _linger_if_early(wire: Wire, request: ParsedRequest) -> None:
    """Give the client time to read an answer that was sent before its request was complete."""
    if not wire.gone and (wire.pending or wire.parser.error or not request.complete):
        await wire.linger()


async def _next_request(state: ServerState, wire: Wire, idle_s: float) -> ParsedRequest | None:
    """The next request, as soon as its header is complete; None at the end of the connection. Raises Refusal."""
    parser = wire.parser
    since: float | None = None
    idle_until = state.now + idle_s  # blank lines do not extend it
    if parser.ready or wire.pending:
        await trio.lowlevel.checkpoint()  # a long pipeline must let other tasks run
    while not parser.ready:
        if parser.error is not None:
            raise parser.error
        if wire.pending:
            wire.parse_pending()
        elif wire.eof:
            return None
        elif parser.in_head:
            since = trio.current_time() if since is None else since
            if not await wire.receive(since + state.settings.header_timeout_s, since):
                raise wire.refusal("The request header did not arrive in time")
        elif not await _idle(state, wire, idle_until):
            return None
    wire.used = True
    return parser.ready.popleft()


async def _idle(state: ServerState, wire: Wire, until: float) -> bool:
    """Wait for the first byte of a request. False if the server closes the idle connection."""
    if state.drain.is_set():
        return False
    idle = wire.capacity.idle
    idle[wire] = until
    try:
        await wire.receive_some()
    finally:
        idle.pop(wire, None)
    return not wire.closing


async def _refuse(state: ServerState, wire: Wire, refusal: Refusal) -> None:
    """Answer a request that could not be parsed, and close."""
    parser = wire.parser
    log.debug("request refused", status=refusal.status, detail=refusal.detail)
    head_only = parser.method == "HEAD"
    await wire.transmit(problem_response(refusal.status, refusal.detail, parser.path, state.date_line, head_only))
    await wire.linger()


def _addresses(stream: trio.abc.Stream) -> tuple[Address | None, Address | None]:
    """(host, port) of the client and of the server, if the stream is a TCP connection."""
    return (stream.client, stream.server) if isinstance(stream, SocketStream) else (None, None)
