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


async def serve_connection(
    state: ServerState, stream: trio.abc.HalfCloseableStream, capacity: ConnectionCapacity | None = None
) -> None:
    """Serve the requests of one connection until it ends, then close the stream. Raises no Exception.

    `capacity` is the pool that the connection belongs to, by default the main one. The reserve serves only health
    checks. `Exchange` answers errors of handlers with 500. An exception here is a bug of this package, or a handler's
    error in one group with its cancellation: it is logged and ends this connection only.
    """
    wire = Wire(stream, state.settings, capacity or state.capacity, state.memory)
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
    if state.draining:
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
