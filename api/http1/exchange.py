"""One request and its response in ASGI: the scope, `receive`, `send`, and their failures.

No task runs beside the handler: `receive` reads the socket in the handler's own task, and only when it is called.
Therefore a handler needs no additional task or cancel scope, and the body has backpressure. A disconnect is noticed
only by a handler that waits in `receive`. The handler is never cancelled because of it.

Extensions of ASGI save the messages of small requests: the headers by name, the whole body, and a whole response.
"""

from collections.abc import Collection, Iterable, Mapping

import structlog
import trio

from vivero.api.http1 import response
from vivero.api.http1.problems import RETRY_AFTER, Refusal, UnfinishedAnswer, problem_body
from vivero.api.http1.request import ParsedRequest
from vivero.api.http1.socket_stream import Address
from vivero.api.http1.state import Message, Scope, ServerState
from vivero.api.http1.wire import ClientGone, Wire
from vivero.storage.postgres.given_time import given_time

log = structlog.get_logger("vivero.api.http1")

# The application gets a body of known length in one message up to this size.
WHOLE_BODY_BYTES = 64 * 1024
# An unread rest of a body is read and dropped up to this size. Beyond it, closing the connection is cheaper.
DISCARD_BYTES = 64 * 1024
# Up to this size, copying head and body together is cheaper than a second system call.
JOIN_BYTES = 64 * 1024

DISCONNECT = "http.disconnect"
RELEASE = "http.request.release"
OWNER = "vivero.owner"
DECLARED_BYTES = "vivero.declared_bytes"
HAS_LEFT = "vivero.has_left"
FIELDS = "vivero.fields"
WHOLE_BODY = "vivero.whole_body"
ANSWER = "vivero.answer"
_NO_DETAILS: Mapping[str, object] = {}


class Exchange:
    """One request and its response. `run` calls the application and returns whether the connection stays open."""

    __slots__ = (
        "_bodiless",
        "_body_taken",
        "_body_time_left_s",
        "_charged",
        "_chunked",
        "_counted",
        "_done",
        "_head_sent",
        "_keep_alive",
        "_length_left",
        "_refused",
        "_slow_since",
        "_start",
        "_watch",
        "request",
        "state",
        "wire",
    )

    def __init__(self, state: ServerState, wire: Wire, request: ParsedRequest) -> None:
        self.state = state
        self.wire = wire
        self.request = request
        self._body_taken = self._head_sent = self._done = self._refused = False
        self._body_time_left_s = state.settings.body_timeout_s
        self._slow_since: float | None = None
        self._charged = self._counted = 0
        self._start: Message | None = None
        self._watch: trio.CancelScope | None = None

    async def run(self, client: Address | None, server: Address | None) -> bool:
        """Call the application. False if the connection must be closed. Logs the application's errors."""
        state = self.state
        limit = state.settings.max_in_flight
        if limit is not None and state.in_flight >= limit and self.request.path != state.settings.health_path:
            await self._answer_problem(503, f"The server is handling {limit} requests, its limit; try again later")
            return await self._discard_rest()
        state.in_flight += 1
        state.figures.requests += 1
        try:
            await state.app(self._scope(client, server), self.receive, self.send)
            if not (self._done or self._refused or self.wire.eof):
                raise RuntimeError("the application returned without a complete response")
        except Exception as error:
            await self._fail(error)
            return False
        finally:
            state.in_flight -= 1
            if self.wire.held:
                state.memory.give_back(self.wire, self.wire.held)
        if self.request.complete:
            return self._done and not self.wire.gone and self._keep_alive
        return self._done and not self.wire.gone and await self._discard_rest()

    def _scope(self, client: Address | None, server: Address | None) -> Scope:
        request = self.request
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": request.version,
            "method": request.method,
            "scheme": "http",
            "path": request.path,
            "raw_path": request.raw_path,
            "query_string": request.query,
            "root_path": "",
            "headers": request.headers,
            "client": client,
            "server": server,
            "extensions": {
                RELEASE: _NO_DETAILS,
                OWNER: self.owner,
                DECLARED_BYTES: request.content_length,
                HAS_LEFT: self._has_left,
                FIELDS: request.fields,
                WHOLE_BODY: self.whole_body,
                ANSWER: self.answer,
            },
        }

    def owner(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """An extension of ASGI: the address that a request with these headers counts for."""
        return self.state.owners.of_request(self.wire, headers)

    # The request.

    async def receive(self) -> Message:
        """ASGI `receive`: the body, in one message if it is small, then `http.disconnect` when the client leaves."""
        request = self.request
        if self._body_taken or self._refused:
            await self._wait_disconnect()
            return {"type": DISCONNECT}
        if not request.complete and not await self._gather():
            return {"type": DISCONNECT}
        body = self.whole_body()
        if body is None:  # a part of a long one
            body = b"".join(request.parts)
            request.parts.clear()
        return {"type": "http.request", "body": body, "more_body": not request.complete}

    def whole_body(self) -> bytes | None:
        """An extension of ASGI: the body, or its unread rest, if all has arrived. None: use `receive`."""
        request = self.request
        if not request.complete or self._body_taken or self._refused:
            return None
        self._body_taken = True
        parts = request.parts
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        return body

    async def _gather(self) -> bool:
        """Wait for the next part of the body, or for all of a small one. False if it cannot arrive any more."""
        request = self.request
        whole = not request.chunked and request.content_length <= WHOLE_BODY_BYTES
        try:
            if request.expects_continue and not self._head_sent:
                request.expects_continue = False
                await self.wire.transmit(response.CONTINUE)
            while not request.complete and (whole or not request.parts):
                if not await self._fetch():
                    return False
        except Refusal as refusal:
            await self._refuse(refusal)
            return False
        except ClientGone:
            return False
        return True

    async def _fetch(self) -> bool:
        """Receive and parse more of the body. False if the client closed. Raises Refusal if it is invalid or late."""
        wire, request = self.wire, self.request
        if wire.parser.error is not None:
            raise wire.parser.error  # the bytes after the header were invalid
        if wire.pending:
            wire.parse_pending()
        elif wire.eof:
            return False
        else:
            await self._receive_body()
        if wire.parser.error is not None and not request.complete:
            raise wire.parser.error
        if request.received > WHOLE_BODY_BYTES and not self._done:
            await self._charge(request.received - self._counted)
        return True

    async def _receive_body(self) -> None:
        wire, settings, now, began = self.wire, self.state.settings, trio.current_time(), given_time()
        since = self._slow_since = now if self._slow_since is None else self._slow_since
        if not await wire.receive(now + self._body_time_left_s, since, self.request):
            raise wire.refusal("The request body did not arrive in time")
        took_s = given_time() - began
        self._body_time_left_s += len(wire.pending) / settings.min_body_bytes_per_s - took_s
        if self._body_time_left_s >= settings.body_timeout_s:
            self._body_time_left_s, self._slow_since = settings.body_timeout_s, None  # it is fast enough

    async def _charge(self, size: int) -> None:
        """Count the received bytes of a large body. Waits for memory. Raises Refusal 503 if there is none in time."""
        if size and not await self.state.memory.take(self.wire, size, self.state.settings.memory_wait_s):
            raise Refusal(503, "The server has no memory for more bodies and answers; try again later")
        self._charged += size
        self._counted += size

    async def _wait_disconnect(self) -> None:
        if self._done or self._refused or self.wire.gone:
            return
        with trio.CancelScope() as self._watch:
            await self.wire.wait_left(self._may_probe)

    async def _has_left(self) -> bool:
        """An extension of ASGI: whether the client has left, as far as the system can tell now."""
        return await self.wire.has_left(self._may_probe)

    def _may_probe(self) -> bool:
        """Whether an interim response may be sent: after the request, before the response, and not in HTTP/1.0."""
        return self.request.complete and not self._head_sent and not self._refused and self.request.version == "1.1"

    async def _discard_rest(self) -> bool:
        """Read the rest of the body, so that the next request can follow. False if the connection must be closed."""
        request = self.request
        try:
            while self._keep_alive and not request.complete:
                request.parts.clear()
                if not await self._fetch():
                    return False
        except Refusal:
            return False
        return self._keep_alive

    # The response.

    async def send(self, message: Message) -> None:
        """ASGI `send`. Raises ClientGone (an OSError) if the client does not read, other errors on misuse."""
        kind = message["type"]
        if self._refused:
            return  # the server has answered instead of the application
        if kind == "http.response.body":
            await self._send_body(message.get("body", b""), message.get("more_body", False))
        elif kind == RELEASE:
            self._release_body()
        elif kind != "http.response.start":
            raise RuntimeError(f"the application sent {kind!r} in an HTTP exchange")
        elif self._start is not None:
            raise RuntimeError("the application started its response twice")
        else:
            self._start = message

    async def answer(self, status: int, headers: Collection[tuple[bytes, bytes]], body: bytes) -> None:
        """An extension of ASGI: a whole response in one call, for headers with names in lower case. Raises like `send`.

        The server sets the Content-Length, with that of GET for HEAD.
        """
        if self._refused:
            return
        if self._start is not None or self._done:
            raise RuntimeError("the application started its response twice")
        request, own = self.request, self.state.date_line
        if status != 204:
            own += b"content-length: %d\r\n" % len(body)
        if request.complete and request.keep_alive and request.version == "1.1" and not self.state.drain.is_set():
            self._keep_alive = True
        else:
            own += self._decide_on_keeping()
        data = response.head_of(status, headers, own)
        if status in (204, 304) or request.method == "HEAD":
            body = b""  # its bytes would begin the next answer
        self._head_sent = self._done = True
        if len(body) > JOIN_BYTES:
            await self._transmit(data, body)
        else:
            data += body
            if (sent := self.wire.send_nowait(data)) < len(data):
                await self.wire.transmit_rest(data, sent, request)
        if self._watch is not None:
            self._watch.cancel()

    def _release_body(self) -> None:
        """Stop counting what the body has had so far, which the application has released."""
        self.state.memory.give_back(self.wire, min(self._charged, self.wire.held))
        self._charged = 0

    async def _send_body(self, body: bytes, more: bool) -> None:
        if self._start is None or self._done:
            raise RuntimeError("the application sent a body before the start or after the end of its response")
        head = b"" if self._head_sent else self._begin(self._start, body, more)
        data = self._encode(body, more)
        self._head_sent = True
        self._done = not more
        await self._transmit(head, data)
        if more:
            await trio.lowlevel.checkpoint()  # a handler that streams to a fast client must let other tasks run
        elif self._watch is not None:
            self._watch.cancel()  # after all is sent: a task that learns of the end may cancel the one that sends

    async def _transmit(self, head: bytes, body: bytes) -> None:
        if len(body) <= JOIN_BYTES:
            head, body = head + body, b""
        if head:
            await self.wire.transmit(head, self.request)
        if body:
            await self.wire.transmit(body, self.request)

    def _begin(self, start: Message, body: bytes, more: bool) -> bytes:
        """Decide on the framing of the response and on keeping the connection. Returns the rendered head."""
        status = start["status"]
        fields = response.Fields(start.get("headers", ()))
        framing, delimited = self._frame(status, fields.content_length, body, more)
        own = (b"" if fields.dated else self.state.date_line) + framing
        return response.render_head(status, fields, own + self._decide_on_keeping(delimited and not fields.close))

    def _decide_on_keeping(self, may_stay: bool = True) -> bytes:
        """Decide whether the connection stays open. Returns the header line that says so, if the client needs one."""
        request = self.request
        self._keep_alive = may_stay and request.keep_alive and not self.state.drain.is_set() and self._rest_is_short()
        if not self._keep_alive:
            return response.CLOSE
        return response.KEEP_ALIVE if request.version == "1.0" else b""

    def _frame(self, status: int, length: int | None, body: bytes, more: bool) -> tuple[bytes, bool]:
        """Choose the framing of the body. Returns its header line, and False if only a close can end the body."""
        without_content = status in (204, 304)
        self._bodiless = without_content or self.request.method == "HEAD"
        if length is None and not more and not without_content and (body or not self._bodiless):
            length = len(body)
        self._chunked = False
        self._length_left = length
        if length is not None:
            return b"" if status == 204 else b"content-length: %d\r\n" % length, True
        if self._bodiless:
            return b"", True
        self._chunked = self.request.version == "1.1"
        return (response.CHUNKED, True) if self._chunked else (b"", False)

    def _rest_is_short(self) -> bool:
        """True if reading the rest of the body is cheaper than a new connection."""
        request = self.request
        if request.complete:
            return True
        unread = request.unread
        return unread is not None and unread <= DISCARD_BYTES and not request.expects_continue

    def _encode(self, body: bytes, more: bool) -> bytes:
        """A part of the response body, framed. Raises RuntimeError if it contradicts the declared Content-Length."""
        if self._bodiless:
            return b""
        if self._chunked:
            data = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            return data if more else data + response.LAST_CHUNK
        if self._length_left is not None:
            self._length_left -= len(body)
            if self._length_left < 0 or (self._length_left and not more):
                raise RuntimeError("the application's response body differs from its Content-Length")
        return body

    # Failures.

    async def _answer_problem(self, status: int, detail: str) -> None:
        """Answer with a problem instead of calling the application. The connection stays open."""
        headers = [(b"content-type", b"application/problem+json"), (b"retry-after", RETRY_AFTER)]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send_body(problem_body(status, detail, self.request.path), more=False)

    async def _refuse(self, refusal: Refusal) -> None:
        """Answer instead of the application, because the request is invalid. Later sends are dropped."""
        self._refused = True
        log.debug("request refused", status=refusal.status, detail=refusal.detail)
        if not self._head_sent:
            await self._transmit_problem(refusal.status, refusal.detail)

    async def _fail(self, error: Exception) -> None:
        """Log an error of the application, and answer 500 if there is no answer yet. Disconnects are not errors."""
        request = self.request
        if only(UnfinishedAnswer, error):
            return
        if only(ClientGone, error):
            log.debug("client left before its response was sent", method=request.method)
            return
        log.error("request handler failed", method=request.method, exc_info=error)
        if not self._head_sent and not self._refused:
            await self._transmit_problem(500, "The server failed to handle the request; its log has the details")

    async def _transmit_problem(self, status: int, detail: str) -> None:
        request = self.request
        head_only = request.method == "HEAD"
        try:
            await self.wire.transmit(
                response.problem_response(status, detail, request.path, self.state.date_line, head_only)
            )
        except ClientGone:
            log.debug("client left before it was refused", method=request.method, status=status)


def only(kind: type[Exception], error: BaseException) -> bool:
    """True for an error of this kind, and for a group of nothing else, which the nursery of a handler raises."""
    if isinstance(error, BaseExceptionGroup):
        return all(only(kind, member) for member in error.exceptions)
    return isinstance(error, kind)
