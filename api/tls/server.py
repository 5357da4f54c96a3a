"""The server task for TLS: HTTP/2 and HTTP/1.1 by hypercorn's protocols, on connections that we accept and bound."""

from __future__ import annotations

import socket
from collections.abc import Callable

import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext

from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.socket_stream import SocketStream
from vivero.api.http1.state import App
from vivero.api.serving.certificate import Certificate
from vivero.api.serving.server import ACCEPT_RETRY_S, BEAT_S, OUT_OF_RESOURCES, Endpoint, accept_in_turn
from vivero.api.tls.connection import Connection
from vivero.api.tls.exchange import CONNECTION, TlsExchange
from vivero.api.tls.state import TlsState
from vivero.storage.postgres.errors import describe
from vivero.storage.postgres.given_time import given_time
from vivero.storage.postgres.ticks import TICK_S, next_tick

log = structlog.get_logger(__name__)

MAX_STREAMS = 100
"""Requests at a time on one connection of HTTP/2."""
MAX_REQUESTS = 10_000
"""Requests of a connection of HTTP/2, also those that the client cancels at once. Then it must connect again."""
CLOSE_S = 1.0
"""The time for connections to end after they were closed, and once more after they were cancelled."""


async def serve(
    app: App,
    endpoint: Endpoint,
    certificate: Certificate,
    *,
    settings: ServerSettings,
    drain: trio.Event,
    beat: Callable[[], None],
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Like `serving.server`, with TLS: until `drain` is set and open requests have ended or exceeded their grace."""
    server = _Server(TlsState(app, settings, endpoint.figures), certificate)
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as accepting:
            accepting.start_soon(server.keep_ticking)
            for listener in endpoint.listeners:
                accepting.start_soon(server.accept, listener, nursery, beat, endpoint)
            task_status.started()
            await drain.wait()
            accepting.cancel_scope.cancel()
        endpoint.close()
        await server.drain(nursery, beat)


class _Server:
    def __init__(self, state: TlsState, certificate: Certificate) -> None:
        self._state = state
        self._certificate = certificate
        self._config = _hypercorn(state.settings)
        self._context = WorkerContext(None)
        self._app = ASGIWrapper(self._call)  # type: ignore[arg-type]  # hypercorn names each kind of message

    async def keep_ticking(self) -> None:
        while True:
            self._state.tick()
            await trio.sleep_until(next_tick(TICK_S))

    async def accept(
        self, listener: trio.SocketListener, nursery: trio.Nursery, beat: Callable[[], None], endpoint: Endpoint
    ) -> None:
        """Accept connections until cancelled."""
        while True:
            beat()
            stream = None
            with trio.move_on_at(next_tick(BEAT_S)):
                stream = await self._accept(listener, endpoint)
            if stream is not None:
                self._admit(stream, nursery)

    async def _accept(self, listener: trio.SocketListener, endpoint: Endpoint) -> SocketStream | None:
        try:
            turns = endpoint.turns
            accepted = await (listener.accept() if turns is None else accept_in_turn(listener, self._state, turns))
            if accepted is None:
                return None
            return SocketStream(socket.socket(fileno=accepted.socket.detach()))
        except OSError as error:
            if error.errno not in OUT_OF_RESOURCES:
                raise
            log.error("cannot accept a connection", error=describe(error), open_connections=self._state.open)
            self._state.evict()
            await trio.sleep(ACCEPT_RETRY_S)
            return None

    def _admit(self, stream: SocketStream, nursery: trio.Nursery) -> None:
        """Serve a new connection. If all are busy it is closed: an answer would need a handshake first."""
        if not self._state.has_place():
            stream.close()
            return
        connection = Connection(stream, self._state.settings)
        self._state.opened(connection)
        nursery.start_soon(self._serve_one, connection)

    async def _serve_one(self, connection: Connection) -> None:
        tls = trio.SSLStream(connection, self._certificate.context, server_side=True, https_compatible=True)
        try:
            await TCPServer(self._app, self._config, self._context, {CONNECTION: connection}, tls).run()  # type: ignore[arg-type]
        except* (OSError, trio.BrokenResourceError, trio.ClosedResourceError) as error:
            log.debug("a connection with TLS ended", error=describe(error))
        except* Exception:
            log.exception("a connection with TLS failed")
        finally:
            connection.close()
            self._state.closed(connection)

    async def _call(self, scope: dict, receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        if scope["type"] == "http":
            scope["state"][CONNECTION].http1 = scope["http_version"] != "2"
            await TlsExchange(self._state, scope, receive, send).run()
        else:
            await send({"type": "websocket.close"})

    async def drain(self, nursery: trio.Nursery, beat: Callable[[], None]) -> None:
        """Let open requests end. hypercorn closes idle connections now, and others after their requests."""
        await self._context.terminated.set()
        self._state.close_unused()
        await self._wait_emptied(self._state.settings.drain_grace_s, beat)
        if self._state.open:
            log.warning("open requests were cancelled at shutdown", grace_s=self._state.settings.drain_grace_s)
        self._state.close_all()
        await self._wait_emptied(CLOSE_S, beat)
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await self._wait_emptied(CLOSE_S, beat)

    async def _wait_emptied(self, within_s: float, beat: Callable[[], None]) -> None:
        """Wait until all connections have ended, for at most `within_s`. Thousands take a while to end."""
        until = given_time() + within_s
        while self._state.open and given_time() < until:
            beat()
            with trio.move_on_after(BEAT_S):
                await self._state.emptied.wait()


def _hypercorn(settings: ServerSettings) -> Config:
    config = Config()
    config.accesslog = config.errorlog = None
    config.include_server_header = False
    config.keep_alive_timeout = settings.keep_alive_s
    config.keep_alive_max_requests = MAX_REQUESTS
    config.ssl_handshake_timeout = settings.header_timeout_s
    config.h11_max_incomplete_size = settings.max_header_bytes
    config.h2_max_header_list_size = settings.max_header_bytes
    config.h2_max_concurrent_streams = MAX_STREAMS
    return config
