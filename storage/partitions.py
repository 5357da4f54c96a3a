"""Leadership of a partition: a claim begins a term, the lease keeps others off, the epoch is what the fence compares.

docs/design/log.md §4. A claim waits for whatever the last term has in doubt, and only then reads the cursor.
"""

from __future__ import annotations

import msgspec

from vivero.storage.postgres import plans
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict, SteppedDown
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

LEASE_S = 5.0
RENEW_EVERY_S = 1.0
LOCK_NOT_AVAILABLE = "55P03"
TRANSACTION_TIMEOUT_VERSION = 170_000


class Claim(msgspec.Struct, frozen=True):
    """A term of leadership. `position`: the last log position that was worked; `next_key`: the next key to give out;
    `moved_by`: the epoch that has worked that position."""

    partition: int
    epoch: int
    position: int
    next_key: int
    moved_by: int = 0

    @property
    def stands(self) -> bool:
        """Whether a whole term, at least, has been before this one without any progress, be it for want of commands."""
        return self.epoch - self.moved_by > 1


class Owned(Exception):
    """Another node leads the partition. `seconds`: how much of its lease is left, as far as we know."""

    def __init__(self, partition: int, node: str | None, seconds: float) -> None:
        super().__init__(f"partition {partition} belongs to node {node!r} for another {seconds:.1f} s")
        self.node = node
        self.seconds = seconds


async def prepare(connection: Connection) -> None:
    """Settings of the sessions that a consumer reads and saves on: access by index, and a bounded transaction."""
    await plans.use_indexes(connection)
    if connection.server_version >= TRANSACTION_TIMEOUT_VERSION:
        await connection.execute(_sql["transaction_timeout"])


async def claim(writer: Connection, partition: int, node: str) -> Claim:
    """Begin a term on `writer`, the connection that its batches will be committed on.

    Raises:
        Owned: somebody else's lease is still running.
        Conflict: a frozen owner held the row; its backend was ended. Try again.
    """
    await writer.execute(_sql["lock_timeout"])
    try:
        epoch, *_ = await _owner(writer, partition)
        rows = (await writer.execute(_sql["claim"], (partition, node, LEASE_S, epoch))).rows
    except Conflict as conflict:
        if conflict.sqlstate == LOCK_NOT_AVAILABLE:
            await writer.execute(_sql["end_owner"], (partition, LEASE_S))
        raise
    if not rows:
        _, owner, seconds = await _owner(writer, partition)
        raise Owned(partition, owner, max(seconds, 0.0))
    position, next_key, moved_by = (await writer.execute(_sql["cursor"], (partition,))).rows[0]
    return Claim(partition, rows[0][0], position, next_key, moved_by)


async def _owner(writer: Connection, partition: int) -> tuple[int, str | None, float]:
    """The last epoch, the node that has or had it, and the seconds that are left of its lease."""
    epoch, node, seconds = (await writer.execute(_sql["owner"], (partition,))).rows[0]
    return epoch, node, seconds or 0.0


async def renew(writer: Connection, claim: Claim) -> None:
    """Extend the lease by its full length from now.

    Raises:
        SteppedDown: somebody else has begun a term.
    """
    if not (await writer.execute(_sql["renew"], (claim.partition, claim.epoch, LEASE_S))).rows:
        raise SteppedDown(f"partition {claim.partition} is no longer owned by epoch {claim.epoch}")
