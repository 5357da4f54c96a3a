"""A connection for one task, which can be shut from outside when a call on it hangs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from vivero.engine.supervision.beat import Beat
from vivero.storage.postgres.driver import CONNECT_TIMEOUT_S, Connection


@dataclass(slots=True)
class DedicatedConnection:
    """Opens a new connection each time the task begins. `connect` makes it."""

    connect: Callable[[], Awaitable[Connection]]
    _connection: Connection | None = None

    @asynccontextmanager
    async def opened(self, beat: Beat) -> AsyncGenerator[Connection]:
        """Open a connection for the block. Raises the errors of `connect`."""
        with beat.waiting(CONNECT_TIMEOUT_S):
            self._connection = connection = await self.connect()
        try:
            yield connection
        finally:
            connection.close()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        if self._connection is not None:
            self._connection.abort()
