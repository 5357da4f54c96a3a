"""One session with PostgreSQL, driven by Trio. What holds for its calls is said in `storage/postgres/driver.py`."""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar

import psycopg
import trio
from psycopg import generators, pq
from psycopg.pq.abc import PGconn, PGresult

from vivero.storage.postgres.errors import ConnectionLost, DeadlineExceeded, StorageBug, StorageError
from vivero.storage.postgres.pipelines import Step, collect, enqueue
from vivero.storage.postgres.queries import Call, Prepared, Query, label, text
from vivero.storage.postgres.results import QueryResult, read
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.postgres.values import BINARY, Params, encode, transformer
from vivero.storage.postgres.waiting import drive, readable_now, request_cancel, shut_down

T = TypeVar("T")

SETTLE_GRACE_S = 0.05
"""How long a cancelled query may still end by itself: most do, and a cancel request costs the server a process."""

SETTLE_S = 0.5
"""How long a cancelled query may take altogether before its connection is closed."""

NOTIFICATIONS_KEPT = 10_000
"""Notifications that nobody fetched; the oldest go first, for they are hints."""


class Notification(NamedTuple):
    """One NOTIFY; `pid` is the backend that sent it."""

    channel: str
    payload: str
    pid: int


class Connection:
    """One session with PostgreSQL, in autocommit unless a transaction is begun. Its rules: see `driver`."""

    def __init__(self, pgconn: PGconn, name: str, call_timeout_s: float) -> None:
        self.name = name
        self.call_timeout_s = call_timeout_s
        self.backend_pid = pgconn.backend_pid
        self.server_version = pgconn.server_version
        self._pgconn = pgconn
        self._fd = pgconn.socket
        self._reader = transformer()
        self._prepared = Prepared()
        self._notifications: deque[Notification] = deque(maxlen=NOTIFICATIONS_KEPT)
        self._running: str | None = None
        self._started: list[Step] = []
        self._request_left = False
        self._closed = False
        pgconn.notify_handler = self._on_notify

    # State

    @property
    def closed(self) -> bool:
        """True once the connection is of no use any more."""
        return self._closed

    @property
    def in_transaction(self) -> bool:
        """True inside an explicit transaction, a failed one included."""
        return not self._closed and self._pgconn.transaction_status != pq.TransactionStatus.IDLE

    @property
    def reusable(self) -> bool:
        """True if somebody else may have this connection: open, idle, outside of a transaction."""
        return not (self._closed or self._running or self.in_transaction)

    @property
    def has_input(self) -> bool:
        """True if something waits to be read. On an idle connection without LISTEN that is news of its end."""
        return self._closed or readable_now(self._pgconn.socket)

    def parameter(self, name: str) -> str | None:
        """A setting that the server reports by itself (`server_encoding`, `in_hot_standby`, ...)."""
        value = None if self._closed else self._pgconn.parameter_status(name.encode())
        return None if value is None else value.decode()

    def close(self) -> None:
        """Ends the session politely if it is idle, otherwise at once. Never waits; may be called twice."""
        if self._running or self.in_transaction:
            self.abort()
        elif not self._closed:
            self._finish()

    def abort(self) -> None:
        """Ends the connection at once, from whatever task: a call in progress raises `ConnectionLost`.

        The socket is shut down before libpq closes it, so that nothing it still holds (a half-sent COMMIT) leaves.
        """
        if not self._closed:
            if self._socket_is_open():
                shut_down(self._fd)
            self._finish()

    def _finish(self) -> None:
        self._closed = True
        if self._socket_is_open():
            trio.lowlevel.notify_closing(self._fd)
        self._pgconn.finish()

    def _socket_is_open(self) -> bool:
        """False once libpq has closed the socket: its number may be somebody else's by now."""
        try:
            return self._pgconn.socket == self._fd
        except psycopg.OperationalError:
            return False

    # Calls

    async def execute(
        self, query: Query, params: Params = (), *, deadline: float | None = None, prepare: bool = True
    ) -> QueryResult:
        """Runs one statement. A `Statement` is prepared at its first use here, unless `prepare` is false."""
        return await self._within(deadline, label(query), self._execute, query, params, prepare)

    async def script(self, sql: str, *, deadline: float | None = None) -> None:
        """Runs SQL of several statements without parameters, as one message (and one transaction, unless it says)."""
        await self._within(deadline, "script", self._script, sql)

    async def pipeline(
        self, calls: Sequence[Call], *, deadline: float | None = None, sent: Callable[[], None] | None = None
    ) -> list[QueryResult]:
        """Runs statements in one round trip with one Sync, and gives all their results.

        `sent` is called once, after the last byte has been handed to the kernel and before the results are awaited:
        from there on PostgreSQL works by itself. The first statement that fails is raised with its index; those after
        it were not run. Without BEGIN the whole pipeline is one transaction. If cancelled, the connection is closed.
        """
        return await self._within(deadline, "pipeline", self._pipeline, calls, sent, drain=False)

    def start_pipeline(self, calls: Sequence[Call]) -> None:
        """The first half of `pipeline`, without waiting: PostgreSQL has the statements, or what of them fits into the
        socket. Until `finish_pipeline`, which must follow, the connection is in use."""
        self._enter("pipeline")
        try:
            self._started = self._send(calls)
            self._pgconn.flush()
        except StorageError as error:
            error.statement = error.statement or "pipeline"
            self._running = None
            raise
        except (psycopg.OperationalError, OSError) as error:
            lost = self._lost(ConnectionLost, str(error).strip())
            self._running = None
            raise lost from error

    async def finish_pipeline(self, *, deadline: float | None = None) -> list[QueryResult]:
        """The second half of the pipeline that was started."""
        return await self._within(deadline, "pipeline", self._collect, self._started, None, drain=False, entered=True)

    async def notifications(self, timeout_s: float) -> list[Notification]:
        """What has been notified since the last call; waits up to `timeout_s` for the first. None came: empty."""
        if not self._notifications:
            with trio.move_on_after(timeout_s):
                await self._within(float("inf"), "notifications", self._await_notification)
        arrived = list(self._notifications)
        self._notifications.clear()
        return arrived

    @asynccontextmanager
    async def transaction(self, *, deadline: float | None = None) -> AsyncGenerator[None]:
        """BEGIN … COMMIT around a block; ROLLBACK if the block raises, or the connection is closed."""
        try:
            await self.execute("BEGIN", deadline=deadline)
            yield
            await self.execute("COMMIT", deadline=deadline)
        except BaseException:
            await self._roll_back()
            raise

    async def _roll_back(self) -> None:
        if not self.in_transaction:
            return
        with trio.CancelScope(shield=True):
            try:
                await self.execute("ROLLBACK", deadline=trio.current_time() + SETTLE_S)
            except StorageError:
                self.abort()  # the server rolls back when the session ends; the block's own error is the one to see

    # The frame around every call

    async def _within(
        self,
        deadline: float | None,
        name: str,
        call: Callable[..., Awaitable[T]],
        *arguments: object,
        drain: bool = True,
        entered: bool = False,
    ) -> T:
        if not entered:
            self._enter(name)
        try:
            with trio.CancelScope(deadline=trio.current_time() + self.call_timeout_s if deadline is None else deadline):
                await trio.lowlevel.checkpoint_if_cancelled()
                return await call(*arguments)
            raise self._lost(DeadlineExceeded, "no answer before the deadline")
        except StorageError as error:
            error.statement = error.statement or name
            if isinstance(error, ConnectionLost):
                self.abort()
            raise
        except trio.Cancelled:
            await self._settle(drain)
            raise
        except (psycopg.OperationalError, OSError, trio.ClosedResourceError) as error:
            raise self._lost(ConnectionLost, str(error).strip() or "closed by this program") from error
        finally:
            self._running = None
            self._abort_if_active()

    def _enter(self, name: str) -> None:
        if self._closed:
            raise ConnectionLost("the connection is closed", statement=name)
        if self._running:
            raise StorageBug(f"the connection is in use by {self._running!r}", statement=name)
        self._running, self._request_left = name, False

    def _lost(self, kind: type[ConnectionLost], message: str) -> ConnectionLost:
        self.abort()
        return kind(message, statement=self._running, in_doubt=self._request_left)

    def _abort_if_active(self) -> None:
        """Whatever ended a call, it never leaves answers behind for the next one."""
        if not self._closed and self._pgconn.transaction_status == pq.TransactionStatus.ACTIVE:
            self.abort()

    async def _settle(self, drain: bool) -> None:
        """After a cancellation: lets the query end or cancels it. What is still active then gets closed."""
        if not drain or self._closed or self._pgconn.transaction_status != pq.TransactionStatus.ACTIVE:
            return
        with trio.CancelScope(shield=True, deadline=trio.current_time() + SETTLE_S):
            try:
                with trio.move_on_after(SETTLE_GRACE_S):
                    await drive(generators.execute(self._pgconn), self._fd)
                    return
                await request_cancel(self._pgconn)
                await drive(generators.execute(self._pgconn), self._fd)
            except (psycopg.Error, OSError, trio.ClosedResourceError):
                self.abort()  # nobody is left to be told what the cancelled call would have raised

    # The protocol

    async def _execute(self, query: Query, params: Params, prepare: bool) -> QueryResult:
        values, formats = encode(params)
        if isinstance(query, Statement) and prepare:
            name = self._prepared.get(query) or await self._prepare(query)
            self._pgconn.send_query_prepared(name, values, formats, BINARY)
        else:
            self._pgconn.send_query_params(text(query), values, None, formats, BINARY)
        return self._read_one(await self._round_trip())

    async def _prepare(self, query: Statement) -> bytes:
        name = self._prepared.new_name(query)
        self._pgconn.send_prepare(name, text(query))
        self._read_one(await self._round_trip())
        self._prepared.add(query, name)
        return name

    async def _script(self, sql: str) -> None:
        self._pgconn.send_query(sql.encode())
        for result in await self._round_trip():
            read(self._reader, result, "script")

    async def _round_trip(self) -> list[PGresult]:
        self._request_left = True
        return await drive(generators.execute(self._pgconn), self._fd)

    def _read_one(self, results: list[PGresult]) -> QueryResult:
        if len(results) != 1:
            raise self._lost(ConnectionLost, f"{len(results)} results for one statement")
        return read(self._reader, results[0], self._running or "")

    async def _pipeline(self, calls: Sequence[Call], sent: Callable[[], None] | None) -> list[QueryResult]:
        return await self._collect(self._send(calls), sent)

    def _send(self, calls: Sequence[Call]) -> list[Step]:
        steps = enqueue(self._pgconn, self._prepared, calls)
        self._request_left = True
        return steps

    async def _collect(self, steps: Sequence[Step], sent: Callable[[], None] | None) -> list[QueryResult]:
        await drive(generators.send(self._pgconn), self._fd)
        if sent is not None:
            sent()
        return await collect(self._pgconn, self._fd, self._reader, self._prepared, steps)

    async def _await_notification(self) -> None:
        while not self._notifications:
            await drive(generators.notifies(self._pgconn), self._fd)

    def _on_notify(self, notify: pq.PGnotify) -> None:
        self._notifications.append(Notification(notify.relname.decode(), notify.extra.decode(), notify.be_pid))
