"""The partition to which a command is appended.

The routes may be old: a partition that gets a command of another one sends it on (docs/design/partitions.md).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import count

import trio

from vivero.engine.core.homes import HOMES
from vivero.engine.core.records.base import Command
from vivero.engine.core.routes import ONE_PARTITION, Routes
from vivero.storage import routes
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError

Acquire = Callable[[], AbstractAsyncContextManager[Connection]]

FRESH_S = 1.0
"""The routes are read again after this time, by the next command."""
READ_S = 0.25
"""A command waits for the routes for this time. Then it goes by the old ones."""


class CommandRouting:
    """The routes of this node, and whose turn it is to get new work."""

    def __init__(self, fixed: Routes | None = None) -> None:
        """`fixed`: routes that are never read again."""
        self.routes = fixed or ONE_PARTITION
        self._read_at = float("-inf" if fixed is None else "inf")
        self._turns = count()

    async def partition_of(self, command: Command, tenant: str, acquire: Acquire) -> int:
        """The home of the command. New work goes to the partitions of its tenant in turn.

        `acquire()` lends a connection to read the routes with.
        """
        if trio.current_time() - self._read_at > FRESH_S:
            await self._read(acquire)
        if not self.routes.several:
            return 1
        home = HOMES[type(command)](command, tenant, self.routes)
        if home is None:
            partitions = self.routes.of_tenant(tenant)
            home = partitions[next(self._turns) % len(partitions)]
        return home

    async def _read(self, acquire: Acquire) -> None:
        """Read the routes. Other commands go by the old ones meanwhile."""
        self._read_at = trio.current_time()
        with trio.move_on_after(READ_S):
            try:
                async with acquire() as connection:
                    self.routes = await routes.read(connection)
            except StorageError:  # the append of the command tells whether there is an outage
                return
