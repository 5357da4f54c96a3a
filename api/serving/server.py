"""The HTTP server task: serves an ASGI 3 application on listening sockets until it is drained.

The server supports HTTP/1.1 and 1.0 (docs/adr/0001 explains why it is our own). It has no lifespan protocol: the caller
of `serve` opens the application's resources. `api.tls.server` is the one for TLS and HTTP/2.
"""

import errno
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog
import trio

from vivero.api.http1.connection import serve_connection
from vivero.api.http1.connection_capacity import ConnectionCapacity
from vivero.api.http1.figures import HttpFigures
from vivero.api.http1.listeners import ListenError, open_listeners
from vivero.api.http1.response import problem_response
from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.socket_stream import SocketStream
from vivero.api.http1.state import App, ServerState
from vivero.api.serving.certificate import Certificate
from vivero.storage.postgres.errors import describe
from vivero.storage.postgres.given_time import patient
from vivero.storage.postgres.ticks import TICK_S, next_tick

__all__ = ["ListenError", "ServerSettings", "open_listeners", "serve"]

log = structlog.get_logger("vivero.api.serving.server")

BEAT_S = TICK_S
"""The longest time between two beats of an accept loop. It shares the moments of the server's ticks."""
ACCEPT_RETRY_S = 0.1
TURN_S = 0.001
MAX_TURNS = 10
"""For so many times `TURN_S` a connection is left to processes that have fewer. Then it is accepted all the same."""
OUT_OF_RESOURCES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class AcceptTurns(Protocol):
    """Lets the processes that share listening sockets take equal shares of the connections."""

    def others_first(self, connections: int) -> bool:
        """Whether another process should accept the next connection, as this one has so many."""
        ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The sockets on which a node serves clients. With `turns`, other processes accept from the same ones."""

    listeners: Sequence[trio.SocketListener]
    turns: AcceptTurns | None = None
    figures: HttpFigures = field(default_factory=HttpFigures)
    certificate: Certificate | None = None
    """With a certificate, `api.tls.server` serves here."""

    def close(self) -> None:
        """Refuse new connections. Other processes that share the sockets still accept theirs."""
        for listener in self.listeners:
            listener.socket.close()


async def serve(
    app: App,
    endpoint: Endpoint,
    *,
    settings: ServerSettings,
    drain: trio.Event,
    beat: Callable[[], None],
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve `app` at `endpoint` until `drain` is set and the open requests have ended or exceeded their grace.

    Returns within `settings.drain_grace_s` after `drain`, whatever clients do. Handlers that still run are cancelled
    then, but a handler that shields itself from cancellation is awaited. The listening sockets are closed after
    `drain`, so that proxies and clients go to another node at once. They stay open if this task is cancelled or fails,
    so that the caller may serve them again. The accept loops call `beat` at least every
    `BEAT_S`. Handlers and connections cannot end this task; only a closed listening socket does.
    """
    state = ServerState(app, settings, endpoint.figures, drain)
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as accepting:
            accepting.start_soon(state.keep_ticking)
            for listener in endpoint.listeners:
                accepting.start_soon(_accept_loop, listener, state, nursery, beat, endpoint.turns)
            task_status.started()
            await drain.wait()
            accepting.cancel_scope.cancel()
        endpoint.close()
        await _drain(state, nursery, beat)
    if nursery.cancel_scope.cancelled_caught:
        log.warning("open requests were cancelled at shutdown", grace_s=settings.drain_grace_s)


async def _drain(state: ServerState, nursery: trio.Nursery, beat: Callable[[], None]) -> None:
    """Wait for the open connections. The deadline of the nursery ends them and this wait."""
    nursery.cancel_scope.deadline = trio.current_time() + state.settings.drain_grace_s
    state.start_draining()
    with patient(nursery.cancel_scope):
        while state.open:
            beat()
            state.tick()
            with trio.move_on_after(BEAT_S):
                await state.emptied.wait()


async def _accept_loop(
    listener: trio.SocketListener,
    state: ServerState,
    nursery: trio.Nursery,
    beat: Callable[[], None],
    turns: AcceptTurns | None,
) -> None:
    while True:
        beat()
        stream = None
        with trio.move_on_at(next_tick(BEAT_S)):
            stream = await _accept(listener, state, turns)
        if stream is not None:
            _admit(stream, state, nursery)


async def _accept(listener: trio.SocketListener, state: ServerState, turns: AcceptTurns | None) -> SocketStream | None:
    """The next connection; None if another process took it, or after a pause without file descriptors or memory."""
    try:
        accepted = await (listener.accept() if turns is None else accept_in_turn(listener, state, turns))
        if accepted is None:
            return None
        return SocketStream(socket.socket(fileno=accepted.socket.detach()))
    except OSError as error:
        if error.errno not in OUT_OF_RESOURCES:
            raise
        log.error("cannot accept a connection", error=describe(error), open_connections=state.open)
        if not state.capacity.evict(trio.current_time()):
            state.reserve.evict(trio.current_time())
        await trio.sleep(ACCEPT_RETRY_S)
        return None


class Counting(Protocol):
    """The state of a server, as far as turns need it: the number of its connections."""

    @property
    def open(self) -> int: ...


async def accept_in_turn(
    listener: trio.SocketListener, state: Counting, turns: AcceptTurns
) -> trio.SocketStream | None:
    """The next connection, unless another process with fewer connections takes it."""
    turns.others_first(state.open)  # tells the others how many connections there are
    await trio.lowlevel.wait_readable(listener.socket)
    for _ in range(MAX_TURNS):
        if not turns.others_first(state.open):
            break
        await trio.sleep(TURN_S)
    with trio.move_on_after(TURN_S):
        return await listener.accept()
    return None


def _admit(stream: SocketStream, state: ServerState, nursery: trio.Nursery) -> None:
    """Serve a new connection, or answer it with 503.

    A 503 is better than a place in the backlog: the client learns at once, with a title on which it retries. First a
    slow or idle connection is closed. If all connections are busy, the new one joins the reserve, which serves health
    checks. If the reserve is full, too, the connection is answered before its request is read.
    """
    now = trio.current_time()
    for capacity in (state.capacity, state.reserve):
        if capacity.has_place(now):
            capacity.open += 1
            state.figures.accepted += 1
            nursery.start_soon(_serve_one, stream, state, capacity)
            return
    _turn_away(stream, state)


async def _serve_one(stream: SocketStream, state: ServerState, capacity: ConnectionCapacity) -> None:
    try:
        await serve_connection(state, stream, capacity)
    finally:
        state.connection_closed(capacity)


def _turn_away(stream: SocketStream, state: ServerState) -> None:
    """Answer 503 and close, without waiting."""
    detail = f"The server has {state.capacity.limit} connections, its limit, and all are busy; try again later"
    try:
        stream.send_nowait(problem_response(503, detail, "/", state.date_line))
        stream.finish_nowait()
    except trio.BrokenResourceError:
        log.debug("client left before it was turned away")
    finally:
        stream.close()
