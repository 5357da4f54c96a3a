"""A TCP proxy between a program and PostgreSQL, which misbehaves on request."""

import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.eventually import eventually


async def open_server(parameters):
    """A raw stream to the PostgreSQL of these connection parameters."""
    host, port = parameters.get("host", ""), parameters.get("port", "5432")
    if host.startswith("/"):
        return await trio.open_unix_socket(f"{host}/.s.PGSQL.{port}")
    return await trio.open_tcp_stream(host, int(port))


class Proxy:
    """Passes bytes between its clients and the server of a DSN; each flag is one way in which networks fail.

    - `swallow`: reads and acknowledges at TCP level, and passes nothing on (a black hole that TCP does not notice);
    - `stall`: does not even read, so that buffers fill up; one request more passes;
    - `lose_beyond`: of "requests" or "answers", passes on only what is no larger (a path whose packets are smaller);
    - `drop_answers`: passes requests on; at the first answer closes the client's connection instead (a lost COMMIT);
    - `deaf`: passes on all answers but notifications; `by_message` must be set before the first connection;
    - `delay_s`: everything arrives so much later, in both directions;
    - `hold()`: from now on keeps what the clients of today say; `deliver()` passes it on when they have long left.
    """

    def __init__(self) -> None:
        self.swallow = self.stall = self.drop_answers = self.deaf = False
        self.by_message = False
        self.lose_beyond = {}
        self.delay_s = 0.0
        self.port = 0
        self.connections = 0
        self._target = {}
        self._links = set()

    def dsn(self, database):
        """The DSN of `database`, by way of this proxy."""
        self._target = conninfo_to_dict(database)
        parameters = {key: value for key, value in self._target.items() if key not in {"host", "hostaddr", "port"}}
        plain = {"sslmode": "disable", "gssencmode": "disable"} if self.by_message else {}
        return make_conninfo("", **parameters, **plain, host="127.0.0.1", port=self.port)

    async def serve(self, task_status):
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        await trio.serve_listeners(self._handle, listeners, task_status=task_status)

    async def _handle(self, client):
        self.connections += 1
        async with client, trio.open_nursery() as nursery:
            server = await open_server(self._target) if self._target and not self.swallow else None
            if server is None:
                await self._swallow(client)
                return
            link = Link(server)
            self._links.add(link)
            async with server:
                nursery.start_soon(self._pass, client, server, nursery.cancel_scope, False, link)
                await self._pass(server, client, nursery.cancel_scope, True, link)
            self._links.discard(link)

    def hold(self):
        """Keep what is said from now on over the connections that there are; new ones pass."""
        for link in self._links:
            link.held = True

    async def until_kept(self, size=1):
        """Until so many bytes are kept."""
        await eventually(lambda: self.kept, accept=lambda kept: kept >= size, every_s=0)

    @property
    def kept(self):
        """The number of bytes that arrived and were not passed on."""
        return sum(len(link.kept) for link in self._links)

    async def deliver(self):
        """Pass on what was kept, and then the end; what PostgreSQL said to it. Its clients must have left."""
        said = b""
        for link in [link for link in self._links if link.held]:
            await link.left.wait()
            self._links.remove(link)
            said += await link.deliver()
        return said

    async def _swallow(self, stream):
        try:
            while await stream.receive_some():
                pass
        except trio.BrokenResourceError:
            pass

    async def _pass(self, source, sink, scope, answers, link):
        lost = False
        messages = AnswerMessages() if answers and self.by_message else None
        try:
            while True:
                if self.stall:
                    await trio.sleep_forever()
                data = await source.receive_some(65536)
                if self.stall and answers:  # it has waited for them since before the stall
                    await trio.sleep_forever()
                if messages is not None and data:
                    data = messages.whole(data, b"A" if self.deaf else b"")
                    if not data:
                        continue
                if self.delay_s:
                    await trio.sleep(self.delay_s)
                if link.held and data:
                    link.keep(data, answers)
                    continue
                if not data or (answers and self.drop_answers):
                    break
                # TCP delivers nothing behind a packet that is lost again and again
                lost |= len(data) > self.lose_beyond.get("answers" if answers else "requests", len(data))
                if not (self.swallow or lost):
                    await sink.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        if link.held and not answers:
            link.left.set()
            await link.over.wait()
        link.over.set()
        scope.cancel()


class AnswerMessages:
    """The bytes of a server, cut into messages. The session must have begun without an offer of encryption."""

    def __init__(self) -> None:
        self._buffer = b""

    def whole(self, data, left_out):
        """The messages that are whole by now, but for those of the type `left_out`."""
        self._buffer += data
        passed = b""
        while len(self._buffer) >= 5:
            size = 1 + int.from_bytes(self._buffer[1:5], "big")
            if len(self._buffer) < size:
                break
            if self._buffer[:1] != left_out:
                passed += self._buffer[:size]
            self._buffer = self._buffer[size:]
        return passed


class Link:
    """A connection through the proxy; `held`: PostgreSQL hears nothing of its client, not even that it has left."""

    def __init__(self, server) -> None:
        self.server = server
        self.held = False
        self.kept = self.said = b""
        self.left = trio.Event()
        self.over = trio.Event()

    def keep(self, data, answers):
        if answers:
            self.said += data
        else:
            self.kept += data

    async def deliver(self):
        """Everything, and then the end. PostgreSQL does what it was asked for, answers, and ends the session."""
        try:
            await self.server.send_all(self.kept)
            await self.server.send_eof()
        except trio.BrokenResourceError:
            pass  # PostgreSQL had ended it
        await self.over.wait()
        return self.said
