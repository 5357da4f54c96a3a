"""The partition to which a command is appended.

The routes may be old: a partition that gets a command of another one sends it on (docs/design/partitions.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import count

import trio

from vivero.api.admission.partition_loads import PERIOD_S, PartitionLoads
from vivero.core.partitions.routes import ONE_PARTITION, Routes
from vivero.core.records.base import Command
from vivero.storage.cluster import routes
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError

Acquire = Callable[[], AbstractAsyncContextManager[Connection]]

FRESH_S = 1.0
"""The routes are read again after this time, by the next command. A notification of a change may be lost."""
READ_S = 0.25
"""A command waits for the routes for this time. Then it goes by the old ones."""


class CommandRouting:
    """The routes of this node, and whose turn it is to get new work."""

    def __init__(self, fixed: Routes | None = None, led: Callable[[], Collection[int]] = tuple) -> None:
        """`fixed`: routes that are never read again. `led()`: the partitions that this node leads."""
        self.routes = fixed or ONE_PARTITION
        self.loads = PartitionLoads()
        self._led = led
        self._read_at = float("-inf" if fixed is None else "inf")
        self._turns = count()
        self._for_new_work: dict[str, Sequence[int]] = {}
        """By tenant."""
        self._chosen_at = float("-inf")

    def outdated(self) -> None:
        """The routes have changed: the next command reads them."""
        self._read_at = float("-inf")

    async def partition_of(self, command: Command, tenant: str, acquire: Acquire, now: float) -> int:
        """The home of the command. New work goes to partitions of its tenant in turn, to this node's own if possible.

        `acquire()` lends a connection to read the routes with. `now` is the time of Trio's clock.
        """
        if now - self._read_at > FRESH_S:
            await self._read(acquire, now)
        if not self.routes.several:
            return 1
        home = command.home(tenant, self.routes)
        return self._new_home(tenant, now) if home is None else home

    def _new_home(self, tenant: str, now: float) -> int:
        if now - self._chosen_at > PERIOD_S:
            self._chosen_at = now
            self._for_new_work.clear()
            self.loads.measure(now)
        partitions = self._for_new_work.get(tenant)
        if partitions is None:
            partitions = self.loads.for_new_work(self.routes.of_tenant(tenant), self._led())
            self._for_new_work[tenant] = partitions
        return partitions[next(self._turns) % len(partitions)]

    async def _read(self, acquire: Acquire, now: float) -> None:
        """Read the routes. Other commands go by the old ones meanwhile."""
        self._read_at = now
        with trio.move_on_after(READ_S):
            try:
                async with acquire() as connection:
                    self.routes = await routes.read(connection)
            except StorageError:  # the append of the command tells whether there is an outage
                return
