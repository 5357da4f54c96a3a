"""Moves commands that clients queued in their own transactions to the logs of the partitions that this node leads.

No notification tells of them: one in the client's transaction would let commits of the whole database wait for each
other. The appender's own look, each `poll_s`, finds the first use of the inbox; then there are looks each `fast_s`.

Rows become visible in any order. Most come soon after their ids were given: the frequent looks begin behind what was
taken more than a second ago, so that they read no old dead entries. Each `poll_s` a look reads everything, and finds
the rows of transactions that were open for long. Frequent looks leave these rows alone, because such a transaction may
have rows before their beginning and behind it, and they keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import trio

from vivero.core.partitions.routes import CATALOGUE
from vivero.engine.appender.forwarding import Forwarding, LogProgress
from vivero.storage.background import job_executions
from vivero.storage.log import transaction_inbox
from vivero.storage.log.transaction_inbox import BACKGROUND_JOBS, Taken
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict

LAG_S = 0.1
"""The log holds as many of these commands as the engine processes in this time: others come between them."""
MOST_BYTES = 1_000_000
"""Bytes of payloads at which a move ends."""


class InboxMove(NamedTuple):
    """Commands are in the log of `partition` up to `position`; None: background jobs, or nothing."""

    partition: int
    position: int | None


class TransactionInbox:
    """The inbox as one appender sees it."""

    def __init__(self, most: int, fast_s: float, poll_s: float) -> None:
        """`most`: commands of one move."""
        self._most, self._fast_s, self._poll_s = most, fast_s, poll_s
        self._within_ms = int(poll_s * 1000)
        """Transactions that began in this time have all of their ids behind the floors, which are older."""
        self._forwarding = Forwarding(most, LAG_S)
        self._filled: dict[int, int] = {}
        """By partition with rows: the id behind which they are taken."""
        self._taken: dict[int, int] = {}
        """By partition: the highest id that was taken."""
        self._taken_before: dict[int, int] = {}
        self._floors: dict[int, int] = {}
        """The highest ids that were taken before the last whole look but one: frequent looks begin there."""
        self._whole_look_at = float("-inf")
        self.look_at = float("inf")
        """The time of the next look, by Trio's clock."""

    def look_if(self, is_used: bool) -> None:
        """From now on there are looks, if clients use the inbox."""
        if is_used:
            self.look_at = min(self.look_at, trio.current_time() + self._fast_s)

    def waits_for(self, partition: int) -> bool:
        """Whether progress of the engine in a partition lets more commands move."""
        return partition in self._filled

    async def run_once(
        self, connection: Connection, led: Collection[int], progress_of: Callable[[int], LogProgress | None]
    ) -> InboxMove | None:
        """A look if it is time for one, and one move; None if there was nothing to move, or no capacity for it."""
        mine = {*led, BACKGROUND_JOBS} if CATALOGUE in led else set(led)
        if trio.current_time() >= self.look_at:
            await self._look(connection, mine)
        for partition in sorted(mine & self._filled.keys()):
            count = self._capacity(partition, progress_of)
            if count > 0:
                return await self._take(connection, partition, count)
        return None

    async def _look(self, connection: Connection, mine: Collection[int]) -> None:
        now = trio.current_time()
        is_whole = now >= self._whole_look_at
        if is_whole:
            self._floors, self._taken_before = self._taken_before, dict(self._taken)
            self._whole_look_at = now + self._poll_s
        if mine:
            above = {partition: 0 if is_whole else self._floors.get(partition, 0) for partition in mine}
            for partition in await transaction_inbox.waiting(connection, above, None if is_whole else self._within_ms):
                self._filled[partition] = min(above[partition], self._filled.get(partition, above[partition]))
        self.look_at = now + self._fast_s

    def _capacity(self, partition: int, progress_of: Callable[[int], LogProgress | None]) -> int:
        if partition == BACKGROUND_JOBS:
            return self._most
        return self._forwarding.capacity(partition, progress_of(partition))

    async def _take(self, connection: Connection, partition: int, count: int) -> InboxMove:
        above = self._filled[partition]
        within_ms = self._within_ms if above else None
        if partition == BACKGROUND_JOBS:
            taken = await _background_jobs(connection, above, count, within_ms)
        else:
            taken = await transaction_inbox.take(connection, partition, above, count, MOST_BYTES, within_ms)
        if taken.last_id is None:
            del self._filled[partition]
        else:
            self._taken[partition] = max(taken.last_id, self._taken.get(partition, 0))
        if taken.last_position is not None:
            self._forwarding.moved(partition, taken.last_position, count)
        return InboxMove(partition, taken.last_position)


async def _background_jobs(connection: Connection, above: int, count: int, within_ms: int | None) -> Taken:
    try:
        return Taken(None, await job_executions.take_queued(connection, above, count, within_ms))
    except Conflict:  # somebody has locked a table: no append waits for it, and a later look tries again
        return Taken(None, None)
