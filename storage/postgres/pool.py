"""A bounded pool of connections, first come, first served.

The pool has no task of its own: callers open the connections. It closes a connection that comes back dirty, broken or
inside a transaction. Callers hold a connection only for database work: a request that waits for the engine returns its
connection first (a pool of two must survive 500 long polls).
"""

import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from vivero.storage.postgres.driver import Connect, Connection
from vivero.storage.postgres.errors import ConnectFailed, DeadlineExceeded, Outage
from vivero.storage.postgres.given_time import patient

ACQUIRE_TIMEOUT_S = 5.0
REFUSED_S = 1.0
"""The time for which a pool that was refused a connection works with those that it has."""


class PoolClosed(Outage):
    """The pool is closed: the program is stopping."""


class PoolExhausted(Outage):
    """All connections stayed in use up to the deadline. Nothing was sent."""


@dataclass(frozen=True, slots=True)
class PoolStats:
    """The state of a pool, for metrics and the status page. The counters only grow."""

    size: int
    idle: int
    in_use: int
    waiting: int
    opened: int
    discarded: int
    exhausted: int


class Pool:
    """At most `size` connections. `connect` opens them on demand."""

    def __init__(self, connect: Connect, size: int, note_wait: Callable[[float], object] | None = None) -> None:
        """`note_wait(seconds)` is called for each caller that found no free connection, when its wait ends."""
        if size < 1:
            raise ValueError(f"a pool needs at least one connection, not {size}")
        self._connect = connect
        self._size = size
        self._note_wait = note_wait
        self._slots = trio.Semaphore(size, max_value=size)  # wakes its waiters in their order
        self._idle: list[Connection] = []
        self._in_use: set[Connection] = set()
        self._returned = trio.lowlevel.ParkingLot()
        self._refused_until = -math.inf
        self._closed = False
        self._opened = self._discarded = self._exhausted = 0

    @property
    def stats(self) -> PoolStats:
        return PoolStats(
            size=self._size,
            idle=len(self._idle),
            in_use=self._size - self._slots.value,
            waiting=self._slots.statistics().tasks_waiting,
            opened=self._opened,
            discarded=self._discarded,
            exhausted=self._exhausted,
        )

    @asynccontextmanager
    async def connection(self, *, deadline: float | None = None) -> AsyncGenerator[Connection]:
        """A connection for the length of a block. Waits for one until `deadline` (by default 5 s from now).

        Raises `PoolExhausted`, `ConnectFailed`, `PoolClosed`. All are outages, before anything was sent.
        """
        end = trio.current_time() + ACQUIRE_TIMEOUT_S if deadline is None else deadline
        await self._take_slot(end)
        try:
            connection = self._pop_idle() or await self._open_or_wait(end)
            self._in_use.add(connection)
            try:
                yield connection
            except DeadlineExceeded:
                self._discard_idle()
                raise
            except Outage:
                connection.abort()  # another host may be the primary by now
                raise
            finally:
                self._in_use.remove(connection)
                self._take_back(connection)
        finally:
            self._slots.release()
            self._returned.unpark()

    def close(self) -> None:
        """Closes idle connections now and the others when they come back. Later calls raise `PoolClosed`."""
        self._closed = True
        self._discard_idle()

    def abort(self) -> None:
        """Closes all connections at once: calls in progress raise `ConnectionLost`. The pool stays usable.

        The supervisor frees a hanging child this way: it closes the child's sockets before it cancels the child.
        """
        self._discard_idle()
        for connection in self._in_use:
            connection.abort()

    async def _take_slot(self, end: float) -> None:
        """Takes a free slot without a checkpoint: the caller waits for PostgreSQL next anyway."""
        try:
            self._slots.acquire_nowait()
        except trio.WouldBlock:
            await self._wait_slot(end)
        if self._closed:
            self._slots.release()
            raise PoolClosed("the pool is closed")

    async def _wait_slot(self, end: float) -> None:
        began = trio.current_time()
        try:
            with trio.CancelScope(deadline=end) as scope, patient(scope):
                await self._slots.acquire()
                return
        finally:
            if self._note_wait is not None:
                self._note_wait(trio.current_time() - began)
        self._exhausted += 1
        raise PoolExhausted(f"all {self._size} connections of the pool are in use")

    def _pop_idle(self) -> Connection | None:
        """The connection that was used last. Discards those that the server has ended."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_input:
                return connection
            self._discard(connection)
        return None

    async def _open_or_wait(self, end: float) -> Connection:
        """A new connection; or that of another caller, if PostgreSQL grants no more of them.

        Raises `ConnectFailed` if no caller has one, and `PoolExhausted` if none comes back before `end`.
        """
        while True:
            if not self._in_use or trio.current_time() >= self._refused_until:
                try:
                    return await self._open(end)
                except ConnectFailed:
                    if not self._in_use:
                        self._returned.unpark_all()  # nobody is left who could give one back
                        raise
                    self._refused_until = trio.current_time() + REFUSED_S
            with trio.CancelScope(deadline=end) as waiting, patient(waiting):
                await self._returned.park()
            if waiting.cancelled_caught:
                self._exhausted += 1
                raise PoolExhausted(f"PostgreSQL grants no more than {len(self._in_use)} connections, all in use")
            if self._closed:
                raise PoolClosed("the pool is closed")
            if (connection := self._pop_idle()) is not None:
                return connection

    async def _open(self, end: float) -> Connection:
        connection = await self._connect(end)
        self._opened += 1
        return connection

    def _take_back(self, connection: Connection) -> None:
        if connection.reusable and not self._closed:
            self._idle.append(connection)
        else:
            self._discard(connection)

    def _discard_idle(self) -> None:
        """After a deadline: idle connections may go through the same broken network path."""
        while self._idle:
            self._discard(self._idle.pop())

    def _discard(self, connection: Connection) -> None:
        connection.close()
        self._discarded += 1
