"""A request that hypercorn parsed, for the application: our limits and deadlines around hypercorn's ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import structlog
import trio

from vivero.api.http1 import grpc
from vivero.api.http1.exchange import DECLARED_BYTES, DISCARD_BYTES, DISCONNECT, HAS_LEFT, OWNER, RELEASE, only
from vivero.api.http1.parser import FIELD_BYTES, LINE_BYTES
from vivero.api.http1.problems import RETRY_AFTER, Refusal, UnfinishedAnswer, problem_body
from vivero.api.http1.request import check_host, declared_bytes, split_target
from vivero.api.http1.wire import LINGER_BYTES, MIN_LINGER_BYTES_PER_S
from vivero.api.tls.connection import Connection
from vivero.api.tls.state import TlsState
from vivero.storage.postgres.given_time import given_time, patient

log = structlog.get_logger(__name__)

CONNECTION = "vivero.connection"
HOP_BY_HOP = frozenset((b"connection", b"keep-alive", b"transfer-encoding", b"upgrade"))

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]


class TlsExchange:
    """One request and its response. `run` calls the application."""

    def __init__(
        self,
        state: TlsState,
        scope: Scope,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        self._state = state
        self._scope = scope
        self._receive = receive
        self._send = send
        self._connection: Connection = scope["state"][CONNECTION]
        self._complete = self._started = self._refused = False
        self._left_s = state.settings.body_timeout_s
        self._received = self._held = 0
        self._declared = declared_bytes(scope["headers"])

    async def run(self) -> None:
        """Serve the request. Logs the application's errors."""
        state = self._state
        self._connection.began()
        state.figures.requests += 1
        try:
            self._check()
            if self._scope["http_version"] == "2" and grpc.is_grpc(self._scope["headers"]):
                await self._refuse_grpc()
                return
            await state.app(self._prepared(), self.receive, self.send)
        except Refusal as refusal:
            await self._refuse(refusal)
        except Exception as error:
            await self._fail(error)
        finally:
            self._release()
            self._connection.ended()

    def _check(self) -> None:
        """Apply the limits of our HTTP/1.1 server. Raises Refusal."""
        settings, headers = self._state.settings, self._scope["headers"]
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1:
            raise Refusal(400, "The request has no Host header, or more than one")
        check_host(hosts[0])
        if len(headers) > settings.max_headers:
            raise Refusal(431, f"The request has more than {settings.max_headers} header fields")
        target_bytes = len(self._scope["raw_path"]) + len(self._scope["query_string"])
        fields = sum(len(name) + len(value) + FIELD_BYTES for name, value in headers)
        if len(self._scope["method"]) + target_bytes + LINE_BYTES + fields > settings.max_header_bytes:
            raise Refusal(431, f"The request header is larger than {settings.max_header_bytes} bytes")
        if target_bytes >= settings.max_target_bytes:
            raise Refusal(414, f"The request target is longer than {settings.max_target_bytes} bytes")
        if self._declared > settings.max_body_bytes:
            raise self._too_large()

    def _prepared(self) -> Scope:
        scope = dict(self._scope)
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        scope["path"], scope["raw_path"], scope["query_string"] = split_target(target)
        scope["extensions"] = {
            RELEASE: {},
            OWNER: self._owner,
            DECLARED_BYTES: self._declared,
            HAS_LEFT: self._has_left,
        }
        return scope

    async def _has_left(self) -> bool:
        """TLS has no half of a connection: the end of one direction is that of both."""
        return self._connection.stream.has_hung_up()

    def _owner(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        return self._state.owners.of_address(self._connection.address, headers)

    # The request.

    async def receive(self) -> Message:
        """ASGI `receive`, with a deadline for the body."""
        if self._refused:
            return {"type": DISCONNECT}
        if self._complete:
            return await self._receive()
        try:
            message = await self._receive_in_time()
            if message["type"] == "http.request":
                self._count(len(message.get("body", b"")))
                self._complete = not message.get("more_body", False)
                if self._complete:
                    self._connection.body_complete()
        except Refusal as refusal:
            await self._refuse(refusal)
            return {"type": DISCONNECT}
        return message

    async def _receive_in_time(self) -> Message:
        connection, settings, began = self._connection, self._state.settings, given_time()
        connection.slow_since = trio.current_time()
        try:
            with trio.fail_after(self._left_s) as scope, patient(scope):
                message = await self._receive()
        except trio.TooSlowError:
            raise Refusal(408, "The request body did not arrive in time") from None
        finally:
            connection.slow_since = None
        took_s = given_time() - began
        self._left_s += len(message.get("body", b"")) / settings.min_body_bytes_per_s - took_s
        self._left_s = min(self._left_s, settings.body_timeout_s)
        return message

    def _count(self, size: int) -> None:
        """Count a part of the body. Raises Refusal."""
        self._received += size
        if self._received > self._state.settings.max_body_bytes:
            raise self._too_large()
        if not self._state.take(size):
            raise Refusal(503, "The server has no memory for more bodies and answers; try again later")
        self._held += size

    def _too_large(self) -> Refusal:
        return Refusal(413, f"The request body is larger than {self._state.settings.max_body_bytes} bytes")

    def _release(self) -> None:
        self._state.give_back(self._held)
        self._held = 0

    # The response.

    async def send(self, message: Message) -> None:
        """ASGI `send`. hypercorn adds the headers of the connection."""
        if self._refused:
            return
        if message["type"] == RELEASE:
            self._release()
        elif message["type"] == "http.response.start":
            self._started = True
            headers = [(name.lower(), value) for name, value in message.get("headers", ())]
            await self._send(dict(message, headers=[pair for pair in headers if pair[0] not in HOP_BY_HOP]))
        else:
            await self._send_body(message)

    async def _send_body(self, message: Message) -> None:
        size = len(message.get("body", b""))
        if not self._state.take(size):
            self._connection.close()  # a part of the answer may be sent, so nothing else can follow
            return
        try:
            if not message.get("more_body", False) and self._is_early():
                await self._send(dict(message, more_body=True))
                await self._linger()
                message = {"type": "http.response.body"}
            await self._send(message)
        finally:
            self._state.give_back(size)
        await trio.lowlevel.checkpoint()

    def _is_early(self) -> bool:
        """Whether the answer overtakes a body that is too large to arrive beside it."""
        return not self._complete and (self._received > 0 or self._declared > DISCARD_BYTES)

    # Failures.

    async def _refuse(self, refusal: Refusal) -> None:
        if not self._started and not self._refused:
            await self._answer(refusal.status, refusal.detail)
        self._refused = True

    async def _refuse_grpc(self) -> None:
        """Answer a call of gRPC with a status of gRPC, which stands in the trailers."""
        start = {"type": "http.response.start", "status": 200, "headers": grpc.HEADERS, "trailers": True}
        await self._send(start)
        await self._send({"type": "http.response.body"})
        await self._linger()
        await self._send({"type": "http.response.trailers", "headers": grpc.TRAILERS})

    async def _fail(self, error: Exception) -> None:
        """Log an error of the application, unless the client is gone. Answer 500 if there is no answer yet.

        An answer that has begun cannot be ended in HTTP/2 but by the end of the connection: a client would wait for it.
        """
        if self._connection.closed:
            return
        if not only(UnfinishedAnswer, error):
            log.error("request handler failed", method=self._scope["method"], exc_info=error)
        if self._started:
            self._connection.close()
        else:
            await self._answer(500, "The server failed to handle the request; its log has the details")

    async def _answer(self, status: int, detail: str) -> None:
        self._started = True
        headers = [(b"content-type", b"application/problem+json")]
        if status == 503:
            headers.append((b"retry-after", RETRY_AFTER))
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        body = problem_body(status, detail, self._scope["path"])
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
        await self._linger()
        await self._send({"type": "http.response.body"})

    async def _linger(self) -> None:
        """Read on for a moment. A client that still sends when the stream closes would lose the answer."""
        size = 0
        with trio.move_on_after(self._state.settings.linger_s) as scope:
            while not self._complete and size < LINGER_BYTES:
                message = await self._receive()
                size += (received := len(message.get("body", b"")))
                scope.deadline += received / MIN_LINGER_BYTES_PER_S
                self._complete = not message.get("more_body", False)
