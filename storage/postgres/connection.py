"""One connection to PostgreSQL: statements, pipelines, transactions, notifications. `driver` lists the rules."""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

import psycopg
import trio
from psycopg import generators, pq
from psycopg.pq.abc import PGconn, PGresult

from vivero.storage.postgres.errors import ConnectionLost, StorageError
from vivero.storage.postgres.pipelines import Step, collect, enqueue
from vivero.storage.postgres.queries import Call, Prepared, Query, label, text
from vivero.storage.postgres.results import QueryResult, read
from vivero.storage.postgres.session import SETTLE_S, Session
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.postgres.values import BINARY, Params, encode, transformer
from vivero.storage.postgres.waiting import drive

NOTIFICATIONS_KEPT = 10_000
"""Notifications that may wait to be fetched. The oldest are dropped first: notifications are hints."""


class Notification(NamedTuple):
    """One NOTIFY; `pid` is the backend that sent it."""

    channel: str
    payload: str
    pid: int


class Connection:
    """One session with PostgreSQL, in autocommit unless a transaction is begun. `driver` lists its rules."""

    def __init__(self, pgconn: PGconn, name: str, call_timeout_s: float) -> None:
        self.name = name
        self.call_timeout_s = call_timeout_s
        self.backend_pid = pgconn.backend_pid
        self.server_version = pgconn.server_version
        self._session = Session(pgconn, call_timeout_s)
        self._pgconn = pgconn
        self._fd = pgconn.socket
        self._reader = transformer()
        self._prepared = Prepared()
        self._notifications: deque[Notification] = deque(maxlen=NOTIFICATIONS_KEPT)
        self._started: list[Step] = []
        self._scope: Call | None = None
        pgconn.notify_handler = self._on_notify

    # State

    @property
    def closed(self) -> bool:
        """True after the connection has ended."""
        return self._session.closed

    @property
    def in_transaction(self) -> bool:
        """True inside an explicit transaction, also after it failed."""
        return self._session.in_transaction

    @property
    def reusable(self) -> bool:
        """True if another task may take this connection: open, idle, outside of a transaction."""
        session = self._session
        return not (session.closed or session.running or session.in_transaction)

    @property
    def has_input(self) -> bool:
        """True if something waits to be read. On an idle connection without LISTEN, that is news of its end."""
        return self._session.has_input

    def parameter(self, name: str) -> str | None:
        """A setting that the server reports by itself (`server_encoding`, `in_hot_standby`, ...)."""
        value = None if self.closed else self._pgconn.parameter_status(name.encode())
        return None if value is None else value.decode()

    def close(self) -> None:
        """Ends the session politely if it is idle, otherwise at once. Never waits; may be called twice."""
        self._session.close()

    def abort(self) -> None:
        """Ends the connection at once, from any task: a call in progress raises `ConnectionLost`."""
        self._session.abort()

    # Calls

    async def execute(
        self, query: Query, params: Params = (), *, deadline: float | None = None, prepare: bool = True
    ) -> QueryResult:
        """Runs one statement. A `Statement` is prepared at its first use here, unless `prepare` is false."""
        if self._scope is not None and not self.in_transaction:
            return (await self.pipeline([(query, params)], deadline=deadline))[0]
        return await self._session.within(deadline, label(query), self._execute, query, params, prepare)

    async def script(self, sql: str, *, deadline: float | None = None) -> None:
        """Runs several statements without parameters, as one message and, by default, one transaction."""
        await self._session.within(deadline, "script", self._script, sql)

    async def pipeline(
        self, calls: Sequence[Call], *, deadline: float | None = None, sent: Callable[[], None] | None = None
    ) -> list[QueryResult]:
        """Runs statements in one round trip with one Sync; returns all their results.

        It calls `sent` once, after the kernel has the last byte and before it waits for the results: from there on
        PostgreSQL works by itself. It raises the error of the first statement that fails, with the statement's index;
        the server skips the statements after it. Without BEGIN the whole pipeline is one transaction. A cancelled
        pipeline closes its connection.
        """
        if self._scope is None or self.in_transaction:
            return await self._session.within(deadline, "pipeline", self._pipeline, calls, sent, drain=False)
        scoped = [self._scope, *calls]
        return (await self._session.within(deadline, "pipeline", self._pipeline, scoped, sent, drain=False))[1:]

    @contextmanager
    def scoped(self, call: Call) -> Iterator[None]:
        """Every transaction of the block begins with this statement, in the round trip of the first other one.

        A statement outside of `transaction` is a transaction of its own. The indexes of errors count this statement.
        """
        self._scope = call
        try:
            yield
        finally:
            self._scope = None

    def start_pipeline(self, calls: Sequence[Call]) -> None:
        """The first half of `pipeline`, without waiting: sends as much of the statements as the socket takes.

        The connection is in use until `finish_pipeline`, which must follow.
        """
        session = self._session
        session.enter("pipeline")
        try:
            self._started = self._send(calls)
            self._pgconn.flush()
        except StorageError as error:
            error.statement = error.statement or "pipeline"
            session.running = None
            raise
        except (psycopg.OperationalError, OSError) as error:
            lost = session.lost(ConnectionLost, str(error).strip())
            session.running = None
            raise lost from error

    async def finish_pipeline(self, *, deadline: float | None = None) -> list[QueryResult]:
        """The second half of the pipeline that was started."""
        within = self._session.within
        return await within(deadline, "pipeline", self._collect, self._started, None, drain=False, entered=True)

    async def notifications(self, timeout_s: float) -> list[Notification]:
        """The notifications since the last call. Waits up to `timeout_s` for the first; empty if there is none."""
        if not self._notifications:
            with trio.move_on_after(timeout_s):
                await self._session.within(float("inf"), "notifications", self._await_notification)
        arrived = list(self._notifications)
        self._notifications.clear()
        return arrived

    @asynccontextmanager
    async def transaction(self, mode: str = "", *, deadline: float | None = None) -> AsyncGenerator[None]:
        """BEGIN … COMMIT around a block. If the block raises, it rolls back or closes the connection.

        `mode`: words after BEGIN, such as READ ONLY.
        """
        begin = f"BEGIN {mode}".strip()
        try:
            if self._scope is None:
                await self.execute(begin, deadline=deadline)
            else:
                calls = [(begin, ()), self._scope]
                await self._session.within(deadline, "pipeline", self._pipeline, calls, None, drain=False)
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
                self.abort()  # the server rolls back when the session ends; the caller sees the block's own error

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
        self._session.request_left = True
        return await drive(generators.execute(self._pgconn), self._fd)

    def _read_one(self, results: list[PGresult]) -> QueryResult:
        if len(results) != 1:
            raise self._session.lost(ConnectionLost, f"{len(results)} results for one statement")
        return read(self._reader, results[0], self._session.running or "")

    async def _pipeline(self, calls: Sequence[Call], sent: Callable[[], None] | None) -> list[QueryResult]:
        return await self._collect(self._send(calls), sent)

    def _send(self, calls: Sequence[Call]) -> list[Step]:
        steps = enqueue(self._pgconn, self._prepared, calls)
        self._session.request_left = True
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
