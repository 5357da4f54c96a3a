"""One libpq connection on Trio: its socket, its end, and the frame around every call."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg
import trio
from psycopg import generators, pq
from psycopg.pq.abc import PGconn

from vivero.storage.postgres.errors import ConnectionLost, DeadlineExceeded, StorageBug, StorageError
from vivero.storage.postgres.given_time import patient
from vivero.storage.postgres.waiting import drive, readable_now, request_cancel, shut_down

T = TypeVar("T")

SETTLE_GRACE_S = 0.05
"""Time for a cancelled query to end by itself. Most do, and a cancel request costs the server a process."""

SETTLE_S = 0.5
"""Time for a cancelled query to end, with a cancel request. After that its connection is closed."""


class Session:
    """A libpq connection that runs one call at a time, each with a deadline."""

    def __init__(self, pgconn: PGconn, call_timeout_s: float) -> None:
        self.pgconn = pgconn
        self.fd = pgconn.socket
        self.call_timeout_s = call_timeout_s
        self.running: str | None = None
        """The name of the current call."""
        self.request_left = False
        """Whether a part of the current call's request may have reached the server."""
        self.closed = False

    @property
    def in_transaction(self) -> bool:
        """True inside an explicit transaction, also after it failed."""
        return not self.closed and self.pgconn.transaction_status != pq.TransactionStatus.IDLE

    @property
    def has_input(self) -> bool:
        """True if a read would not wait."""
        return self.closed or readable_now(self.pgconn.socket)

    # The end

    def close(self) -> None:
        """Ends the session politely if it is idle, otherwise at once. Never waits; may be called twice."""
        if self.running or self.in_transaction:
            self.abort()
        elif not self.closed:
            self._finish()

    def abort(self) -> None:
        """Ends the connection at once, from any task: a call in progress raises `ConnectionLost`.

        It shuts the socket down before libpq closes it. Data that libpq still holds (a half-sent COMMIT) never leaves.
        """
        if not self.closed:
            if self._socket_is_open():
                shut_down(self.fd)
            self._finish()

    def lost(self, kind: type[ConnectionLost], message: str) -> ConnectionLost:
        """Ends the connection; returns the error for the current call."""
        self.abort()
        return kind(message, statement=self.running, in_doubt=self.request_left)

    def _finish(self) -> None:
        self.closed = True
        if self._socket_is_open():
            trio.lowlevel.notify_closing(self.fd)
        self.pgconn.finish()

    def _socket_is_open(self) -> bool:
        """False after libpq has closed the socket: another file may have its number by now."""
        try:
            return self.pgconn.socket == self.fd
        except psycopg.OperationalError:
            return False

    # The frame around every call

    def enter(self, name: str) -> None:
        """Begins a call. Raises `ConnectionLost` on a closed connection, `StorageBug` during another call."""
        if self.closed:
            raise ConnectionLost("the connection is closed", statement=name)
        if self.running:
            raise StorageBug(f"the connection is in use by {self.running!r}", statement=name)
        self.running, self.request_left = name, False

    async def within(
        self,
        deadline: float | None,
        name: str,
        call: Callable[..., Awaitable[T]],
        *arguments: object,
        drain: bool = True,
        entered: bool = False,
    ) -> T:
        """Runs one call: its deadline, its errors, and its cancellation. `drain`: a cancelled query may end first."""
        if not entered:
            self.enter(name)
        try:
            end = trio.current_time() + self.call_timeout_s if deadline is None else deadline
            with trio.CancelScope(deadline=end) as scope, patient(scope):
                await trio.lowlevel.checkpoint_if_cancelled()
                return await call(*arguments)
            raise self.lost(DeadlineExceeded, "no answer before the deadline")
        except StorageError as error:
            error.statement = error.statement or name
            if isinstance(error, ConnectionLost):
                self.abort()
            raise
        except trio.Cancelled:
            await self._settle(drain)
            raise
        except (psycopg.OperationalError, OSError, trio.ClosedResourceError) as error:
            raise self.lost(ConnectionLost, str(error).strip() or "closed by this program") from error
        finally:
            self.running = None
            self._abort_if_active()

    def _abort_if_active(self) -> None:
        """A call never leaves answers behind for the next one, however it ended."""
        if not self.closed and self.pgconn.transaction_status == pq.TransactionStatus.ACTIVE:
            self.abort()

    async def _settle(self, drain: bool) -> None:
        """After a cancellation: lets the query end, or cancels it. `_abort_if_active` closes a query that is left."""
        if not drain or self.closed or self.pgconn.transaction_status != pq.TransactionStatus.ACTIVE:
            return
        with trio.CancelScope(shield=True, deadline=trio.current_time() + SETTLE_S):
            try:
                with trio.move_on_after(SETTLE_GRACE_S):
                    await drive(generators.execute(self.pgconn), self.fd)
                    return
                await request_cancel(self.pgconn)
                await drive(generators.execute(self.pgconn), self.fd)
            except (psycopg.Error, OSError, trio.ClosedResourceError):
                self.abort()  # the cancelled call has no caller left to raise to
