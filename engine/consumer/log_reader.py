"""Reading the log of a partition for one term.

The next rows come from three places: the segments that this node appended, a read that ran while the last batch was
computed, and the database.
"""

from __future__ import annotations

from functools import partial

import trio

from vivero.engine.consumer.appended_segments import AppendedSegments
from vivero.engine.consumer.owner import Owner
from vivero.engine.consumer.read_ahead import ReadAhead
from vivero.storage.log import log_batches
from vivero.storage.log.command_log import AppendedSegment
from vivero.storage.log.log_batches import LogPage
from vivero.storage.postgres.driver import Connection

LOOK_EVERY_S = 0.1
"""While quanta of deferred work follow each other, the log is read this often: others may append, and time passes."""


class LogReader:
    """The log of a partition, read in order on one connection."""

    def __init__(self, owner: Owner, connection: Connection, partition: int) -> None:
        self._stats, self._partition_duty = owner.stats, owner.partition_duty
        self._connection = connection
        self._partition = partition
        self._segments = AppendedSegments()
        self._read_ahead: ReadAhead | None = None
        self._looked_at = float("-inf")

    def take(self, segment: AppendedSegment) -> None:
        """Keep a segment that this node appended. Without capacity for it the rows are read from the database."""
        self._partition_duty.must_read_log |= not self._segments.add(segment)

    @property
    def may_have_more(self) -> bool:
        """Whether there are unread rows, as far as this node knows."""
        return bool(self._segments or self._partition_duty.must_read_log)

    async def read(self, behind: int, limit: int, working: bool) -> LogPage | None:
        """Up to `limit` rows behind a position; None when nothing suggests that there are any.

        `working` tells that deferred work keeps the term busy, so that no timeout makes it look at the database.
        """
        if (ahead := await self._take_read_ahead()) is not None:
            return ahead
        appended = self._segments.behind(behind, limit)
        overdue = working and trio.current_time() - self._looked_at > LOOK_EVERY_S
        if appended is not None or not (self.may_have_more or overdue):
            return appended
        self._partition_duty.must_read_log, self._looked_at = False, trio.current_time()
        read = await self._query(behind, limit)
        self._partition_duty.must_read_log |= bool(read.rows)
        return read

    def start_read_ahead(self, nursery: trio.Nursery, behind: int, limit: int) -> None:
        """Read the next rows in the background, while a batch is computed."""
        self._read_ahead = ReadAhead()
        nursery.start_soon(self._read_ahead.run, partial(self._query, behind, limit))

    async def connection_free(self) -> Connection:
        """The connection, when no background read uses it any more."""
        if self._read_ahead is not None:
            await self._read_ahead.wait()
        return self._connection

    async def _take_read_ahead(self) -> LogPage | None:
        reading, self._read_ahead = self._read_ahead, None
        if reading is None:
            return None
        ahead = await reading.wait()
        if ahead is None or not ahead.rows:
            return None
        self._partition_duty.must_read_log = True
        return ahead

    async def _query(self, behind: int, limit: int) -> LogPage:
        self._stats.reads += 1
        return await log_batches.read_batch(self._connection, self._partition, behind, limit)
