"""PostgreSQL connections on Trio: psycopg's own protocol generators, waited for by Trio.

psycopg writes the protocol as generators that yield what they wait for; `storage/waiting.py` lets Trio do the waiting.
A connection is a thin layer over libpq (`psycopg.pq`): no cursors, no adaptation of large values, results as lists of
tuples. Names of psycopg used beyond its documented API, held by tests/storage/test_driver.py and by the exact version
pin: `psycopg.generators` (connect, cancel, send, execute, fetch_many, notifies), `psycopg.waiting` (Ready, Wait).

Rules that hold for every call:

- It has a deadline, a point on Trio's clock (seconds, `trio.current_time()`); by default `call_timeout_s` from now. A
  deadline that passes closes the connection (shutdown of the socket: neither TCP keepalive nor statement_timeout
  frees a call behind a black hole) and raises `DeadlineExceeded`.
- A cancelled call leaves no dirty connection: its query is given a moment to end, then cancelled on the server, all
  within `SETTLE_S`; otherwise, and always for a pipeline, the connection is closed.
- Errors are those of `storage.errors`. After `ConnectionLost` the connection is closed, after any other it is usable
  (within an explicit transaction: for a rollback).
- One task uses a connection at a time; a second one is told so by `StorageBug`. `abort()` may come from any task.
"""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar

import psycopg
import trio
from psycopg import generators, pq
from psycopg.pq.abc import PGconn, PGresult

from storage import dsn as conninfo
from storage.errors import ConnectFailed, ConnectionLost, DeadlineExceeded, StorageBug, StorageError
from storage.results import Result, read
from storage.sql_files import Statement
from storage.values import BINARY, Encoded, Params, encode, transformer
from storage.waiting import drive, drive_pairs, readable_now, request_cancel, shut_down

__all__ = ["Call", "Connection", "Notification", "Params", "Query", "Result", "connect"]

T = TypeVar("T")

CALL_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 5.0

SETTLE_GRACE_S = 0.05
"""How long a cancelled query may still end by itself: most do, and a cancel request costs the server a process."""

SETTLE_S = 0.5
"""How long a cancelled query may take altogether before its connection is closed."""

NOTIFICATIONS_KEPT = 10_000
"""Notifications that nobody fetched; the oldest go first, for they are hints."""

SESSION_SETTINGS: Mapping[str, str] = {"default_transaction_isolation": "read committed", "TimeZone": "UTC"}

Query = Statement | str
"""A named statement, prepared at its first use on a connection, or SQL that is planned each time."""

Call = tuple[Query, Params]


class Notification(NamedTuple):
    """One NOTIFY; `pid` is the backend that sent it."""

    channel: str
    payload: str
    pid: int


class _Step(NamedTuple):
    """One answer that a pipeline awaits: of the call at that place, or of preparing its statement under `name`."""

    call: int
    prepares: Statement | None = None
    name: bytes = b""


async def connect(
    dsn: str,
    *,
    name: str = "vivero",
    settings: Mapping[str, str] | None = None,
    deadline: float | None = None,
    call_timeout_s: float = CALL_TIMEOUT_S,
) -> "Connection":
    """A new connection, from the first host of the DSN that gives one.

    `name` is its `application_name`, `settings` are server settings for its whole session. Each address gets its share
    of the time that is left, so that a silent host does not use up the others' (or the DSN's `connect_timeout`, if
    that is less). Raises `ConnectFailed` with what each host said, `InvalidDsn`.
    """
    parameters = conninfo.with_session(conninfo.parse(dsn), name, {**SESSION_SETTINGS, **(settings or {})})
    limit_s = conninfo.connect_timeout_s(parameters)
    end = _deadline(deadline, CONNECT_TIMEOUT_S)
    attempts: list[str] = []
    failures: list[str] = []
    with trio.CancelScope(deadline=end):
        attempts = await conninfo.attempts(parameters)
    for number, attempt in enumerate(attempts):
        share_s = min(limit_s, (end - trio.current_time()) / (len(attempts) - number))
        try:
            return Connection(await _open(attempt, share_s), name, call_timeout_s)
        except psycopg.Error as error:
            failures.append(str(error).strip())
        except trio.TooSlowError:
            failures.append(f"no answer from {conninfo.address(attempt)} within {share_s:.1f} s")
    raise ConnectFailed("; ".join(failures) or "host names were not resolved before the deadline")


async def _open(attempt: str, timeout_s: float) -> PGconn:
    with trio.fail_after(max(timeout_s, 0)):
        return await drive_pairs(generators.connect(attempt))


class Connection:
    """One session with PostgreSQL, in autocommit unless a transaction is begun. See the rules of this module."""

    def __init__(self, pgconn: PGconn, name: str, call_timeout_s: float) -> None:
        self.name = name
        self.call_timeout_s = call_timeout_s
        self.backend_pid = pgconn.backend_pid
        self.server_version = pgconn.server_version
        self._pgconn = pgconn
        self._fd = pgconn.socket
        self._reader = transformer()
        self._prepared: dict[Statement, bytes] = {}
        self._notifications: deque[Notification] = deque(maxlen=NOTIFICATIONS_KEPT)
        self._running: str | None = None
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
    ) -> Result:
        """Runs one statement. A `Statement` is prepared at its first use here, unless `prepare` is false."""
        return await self._within(deadline, _label(query), self._execute, query, params, prepare)

    async def script(self, sql: str, *, deadline: float | None = None) -> None:
        """Runs SQL of several statements without parameters, as one message (and one transaction, unless it says)."""
        await self._within(deadline, "script", self._script, sql)

    async def pipeline(
        self, calls: Sequence[Call], *, deadline: float | None = None, sent: Callable[[], None] | None = None
    ) -> list[Result]:
        """Runs statements in one round trip with one Sync, and gives all their results.

        `sent` is called once, after the last byte has been handed to the kernel and before the results are awaited:
        from there on PostgreSQL works by itself. The first statement that fails is raised with its index; those after
        it were not run. Without BEGIN the whole pipeline is one transaction. If cancelled, the connection is closed.
        """
        return await self._within(deadline, "pipeline", self._pipeline, calls, sent, drain=False)

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
        await self.execute("BEGIN", deadline=deadline)
        try:
            yield
        except BaseException:
            await self._roll_back()
            raise
        await self.execute("COMMIT", deadline=deadline)

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
        label: str,
        call: Callable[..., Awaitable[T]],
        *arguments: object,
        drain: bool = True,
    ) -> T:
        self._enter(label)
        try:
            with trio.CancelScope(deadline=_deadline(deadline, self.call_timeout_s)):
                await trio.lowlevel.checkpoint_if_cancelled()
                return await call(*arguments)
            raise self._lost(DeadlineExceeded, "no answer before the deadline")
        except StorageError as error:
            error.statement = error.statement or label
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

    def _enter(self, label: str) -> None:
        if self._closed:
            raise ConnectionLost("the connection is closed", statement=label)
        if self._running:
            raise StorageBug(f"the connection is in use by {self._running!r}", statement=label)
        self._running, self._request_left = label, False

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

    async def _execute(self, query: Query, params: Params, prepare: bool) -> Result:
        values, formats = encode(params)
        if isinstance(query, Statement) and prepare:
            name = self._prepared.get(query) or await self._prepare(query)
            self._pgconn.send_query_prepared(name, values, formats, BINARY)
        else:
            self._pgconn.send_query_params(_text(query), values, None, formats, BINARY)
        return self._read_one(await self._round_trip())

    async def _prepare(self, query: Statement) -> bytes:
        name = self._name(query, len(self._prepared))
        self._pgconn.send_prepare(name, _text(query))
        self._read_one(await self._round_trip())
        self._prepared[query] = name
        return name

    @staticmethod
    def _name(query: Statement, number: int) -> bytes:
        return f"{query.name}_{number}".encode()

    async def _script(self, sql: str) -> None:
        self._pgconn.send_query(sql.encode())
        for result in await self._round_trip():
            read(self._reader, result, "script")

    async def _round_trip(self) -> list[PGresult]:
        self._request_left = True
        return await drive(generators.execute(self._pgconn), self._fd)

    def _read_one(self, results: list[PGresult], label: str | None = None, index: int | None = None) -> Result:
        if len(results) != 1:
            raise self._lost(ConnectionLost, f"{len(results)} results for one statement")
        return read(self._reader, results[0], label or self._running or "", index)

    async def _pipeline(self, calls: Sequence[Call], sent: Callable[[], None] | None) -> list[Result]:
        encoded = [_encode_at(index, params) for index, (_, params) in enumerate(calls)]
        steps = self._queue(calls, encoded)
        self._request_left = True
        await drive(generators.send(self._pgconn), self._fd)
        if sent is not None:
            sent()
        results, failure = await self._collect(calls, steps)
        self._pgconn.exit_pipeline_mode()
        if failure is not None:
            raise failure
        return results

    def _queue(self, calls: Sequence[Call], encoded: Sequence[Encoded]) -> list[_Step]:
        """Hands every statement to libpq, new ones with their preparation before them, and one Sync."""
        self._pgconn.enter_pipeline_mode()
        steps: list[_Step] = []
        fresh: dict[Statement, bytes] = {}
        for index, ((query, _), (values, formats)) in enumerate(zip(calls, encoded, strict=True)):
            if isinstance(query, str):
                self._pgconn.send_query_params(_text(query), values, None, formats, BINARY)
            else:
                name = self._prepared.get(query) or fresh.get(query)
                if name is None:
                    name = fresh[query] = self._name(query, len(self._prepared) + len(fresh))
                    self._pgconn.send_prepare(name, _text(query))
                    steps.append(_Step(index, query, name))
                self._pgconn.send_query_prepared(name, values, formats, BINARY)
            steps.append(_Step(index))
        self._pgconn.pipeline_sync()
        return steps

    async def _collect(self, calls: Sequence[Call], steps: Sequence[_Step]) -> tuple[list[Result], StorageError | None]:
        """Reads every answer up to the Sync's. The failure is the first one; the server skipped what came after it."""
        results: list[Result] = []
        failure: StorageError | None = None
        for step in steps:
            answers = await drive(generators.fetch_many(self._pgconn), self._fd)
            if failure is not None:
                continue
            try:
                result = self._read_one(answers, _label(calls[step.call][0]), step.call)
            except ConnectionLost:
                raise
            except StorageError as error:
                failure = error
                continue
            if step.prepares is None:
                results.append(result)
            else:
                self._prepared[step.prepares] = step.name
        await drive(generators.fetch_many(self._pgconn), self._fd)
        return results, failure

    async def _await_notification(self) -> None:
        while not self._notifications:
            await drive(generators.notifies(self._pgconn), self._fd)

    def _on_notify(self, notify: pq.PGnotify) -> None:
        self._notifications.append(Notification(notify.relname.decode(), notify.extra.decode(), notify.be_pid))


def _label(query: Query) -> str:
    """How a statement is called in an error: by its name, or by its beginning."""
    return " ".join(query[:80].split()) if isinstance(query, str) else query.name


def _text(query: Query) -> bytes:
    return (query if isinstance(query, str) else query.text).encode()


def _encode_at(index: int, params: Params) -> Encoded:
    try:
        return encode(params)
    except StorageError as error:
        error.index = index
        raise


def _deadline(deadline: float | None, timeout_s: float) -> float:
    return trio.current_time() + timeout_s if deadline is None else deadline
