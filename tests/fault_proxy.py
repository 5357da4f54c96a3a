"""A proxy between programs and PostgreSQL that does what networks do: it loses, delays, cuts, and delivers late.

It tells sessions apart by their names (`application_name`), and counts what its faults did.
"""

import re
import socket
import struct

import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.proxies import open_server

_CUT = (trio.BrokenResourceError, trio.ClosedResourceError)
_COMMITS = re.compile(rb"\0(?:command_log\.append|command_log\.append_fresh|save\.event_log)_\d+\0")
"""The statements of calls that write: an append, and a batch. Each call is one transaction."""
_READY = b"Z\0\0\0\5I"
"""The end of the answer to a call, behind its commit."""
ENDS_S = 10.0


class Session:
    """A connection of the program, by way of the proxy."""

    def __init__(self, client, server) -> None:
        self.client, self.server = client, server
        self.name = ""
        self.black = False
        self.delay_s = 0.0
        self.drop_commit = False
        self.committing = False
        self.swallowed = b""
        self.when_half_sent = None
        self.kept = b""
        self.holds = False
        self.late = False
        self.over = trio.Event()
        self.sending = trio.Lock()
        """The order of what goes to PostgreSQL: late data go before what comes afterwards, and before the end."""

    def read_name(self, data):
        """An offer of encryption may come before the packet that has it."""
        if not self.name:
            found = re.search(rb"application_name\0([^\0]*)\0", data)
            self.name = found[1].decode() if found else ""

    def reset(self):
        """End both sides at once; the program's with a TCP reset."""
        self.client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.socket.close()
        self.server.socket.close()


class FaultProxy:
    """Passes bytes on until it is told otherwise. One a node; faults are for sessions whose names contain a text."""

    def __init__(self, dsn) -> None:
        self._target = conninfo_to_dict(dsn)
        self.sessions = set()
        self.black = False
        """New connections get no answer either."""
        self.hits = 0
        """The number of chunks or connections that faults have met."""
        self._hit = trio.Event()
        self.port = 0

    async def serve(self, task_status=trio.TASK_STATUS_IGNORED):
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        await trio.serve_listeners(self._handle, listeners, task_status=task_status)

    @property
    def dsn(self):
        parameters = {key: value for key, value in self._target.items() if key not in {"host", "hostaddr", "port"}}
        return make_conninfo("", **parameters, host="127.0.0.1", port=self.port)

    # ---- faults

    def named(self, name):
        """The sessions of today whose names contain `name`."""
        return [one for one in self.sessions if name in one.name and one.name.startswith("vivero:")]

    async def until_hit(self, before, within_s):
        """Wait until a fault has met more than `before`: whether it has."""
        with trio.move_on_after(within_s):
            while self.hits <= before:
                await self._hit.wait()
        return self.hits > before

    def drop_commit(self, name):
        """The next acknowledgement of a commit to each such session gets lost, and its connection with it."""
        for session in self.named(name):
            session.drop_commit = True

    def blacken(self, name):
        """Pass nothing on any more, in neither direction, and end nothing."""
        for session in self.named(name):
            session.black = True

    def clear(self):
        """Everything is as it should be; connections that lost bytes are reset."""
        self.black = False
        for session in list(self.sessions):
            session.delay_s, session.drop_commit, session.when_half_sent = 0.0, False, None
            if session.black:
                session.black = False
                session.reset()
        self._note(0)

    def cut(self, name):
        """Reset connections: how many."""
        found = self.named(name)
        for session in found:
            session.reset()
        self._note(len(found))
        return len(found)

    def delay(self, name, seconds):
        """Each chunk of such sessions takes longer, in both directions."""
        for session in self.named(name):
            session.delay_s = seconds

    def halve(self, name, when_half_sent):
        """Pass on half of what each such session says next, call `when_half_sent()`, and keep the rest."""
        for session in self.named(name):
            session.when_half_sent = when_half_sent

    def hold(self, name):
        """Keep what such sessions say from now on: PostgreSQL hears nothing of them, not even that they leave.

        Returns how many there are.
        """
        found = self.named(name)
        for session in found:
            session.holds = True
        return len(found)

    async def deliver(self):
        """Pass on what was kept, and then the end: how many bytes."""
        total = 0
        for session in [one for one in self.sessions if one.holds]:
            total += len(session.kept)
            try:
                async with session.sending:
                    data, session.kept, session.holds, session.late = session.kept, b"", False, True
                    await session.server.send_all(data)
            except _CUT:
                self.sessions.discard(session)  # PostgreSQL has ended it meanwhile
        self._note(0)
        return total

    # ---- bytes

    def _note(self, count=1):
        self.hits += count
        self._hit.set()
        self._hit = trio.Event()

    async def _handle(self, client):
        async with client:
            if self.black:
                self._note()
                await self._swallow(client)
                return
            try:
                server = await open_server(self._target)
            except OSError:
                return  # it is down; so is this connection
            session = Session(client, server)
            self.sessions.add(session)
            async with server, trio.open_nursery() as nursery:
                nursery.start_soon(self._answers, session, nursery.cancel_scope)
                await self._requests(session)
                nursery.cancel_scope.cancel()
            self.sessions.discard(session)

    async def _swallow(self, client):
        try:
            while await client.receive_some():
                pass
        except _CUT:
            pass

    async def _requests(self, session):
        try:
            while data := await session.client.receive_some(65536):
                session.read_name(data)
                session.committing |= session.drop_commit and _COMMITS.search(data) is not None
                if session.when_half_sent is not None and len(data) > 1:
                    data = await self._halve(session, data)
                if session.holds:
                    session.kept += data
                    self._note()
                elif await self._passes(session):
                    async with session.sending:
                        await session.server.send_all(data)
        except _CUT:
            pass
        while session.holds or session.black:
            await self._hit.wait()  # nobody tells PostgreSQL that the program has left
        if session.late:
            await self._end_late(session)

    async def _end_late(self, session):
        """PostgreSQL reads all that came late before it reads the end."""
        try:
            async with session.sending:
                await session.server.send_eof()
        except _CUT:
            return
        with trio.move_on_after(ENDS_S):
            await session.over.wait()

    async def _halve(self, session, data):
        """Pass the first half on; the rest is to be kept."""
        stop, session.when_half_sent = session.when_half_sent, None
        await session.server.send_all(data[: len(data) // 2])
        session.holds = True
        stop()
        return data[len(data) // 2 :]

    async def _answers(self, session, scope):
        try:
            while data := await session.server.receive_some(65536):
                if session.committing:
                    self._swallow_answer(session, data)
                elif await self._passes(session):
                    await session.client.send_all(data)
        except _CUT:
            pass
        session.over.set()
        if not session.holds:
            scope.cancel()

    def _swallow_answer(self, session, data):
        """Lose the answer of a call that writes, and reset the connection when its commit is done."""
        session.swallowed = (session.swallowed + data)[-len(_READY) :]
        if session.swallowed == _READY:
            self._note()
            session.reset()

    async def _passes(self, session):
        """Whether bytes pass, after their delay."""
        if session.delay_s:
            self._note()
            await trio.sleep(session.delay_s)
        if session.black:
            self._note()
        return not session.black
