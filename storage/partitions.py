"""Leadership of a partition: a claim begins a term, the lease excludes other nodes, and the fence compares the epoch.

A claim waits for any batch of the last term that is in doubt, and only then reads the cursor (docs/design/log.md §4).
"""

from __future__ import annotations

import msgspec
import trio

from vivero.storage.postgres import plans
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict, SteppedDown
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

MAX_PARTITIONS = 1_024
"""The number of slots: a partition without a slot would get no messages."""
MAKE_TIMEOUT_S = 120.0
LEASE_S = 5.0
RENEW_EVERY_S = 1.0
LOCK_NOT_AVAILABLE = "55P03"
TRANSACTION_TIMEOUT_VERSION = 170_000


class Claim(msgspec.Struct, frozen=True):
    """A term of leadership.

    `position` is the last processed position of the log, `next_key` the next free key, `moved_by` the epoch that
    processed `position`.
    """

    partition: int
    epoch: int
    position: int
    next_key: int
    moved_by: int = 0
    handed_over: int = 0
    """The last epoch that ended by handing the partition over."""

    @property
    def stands(self) -> bool:
        """Whether the term before this one failed without progress (maybe because there were no commands)."""
        return self.epoch - max(self.moved_by, self.handed_over) > 1


class Owned(Exception):
    """Another node leads the partition. `seconds` estimates the rest of its lease."""

    def __init__(self, partition: int, node: str | None, seconds: float) -> None:
        super().__init__(f"node {node!r} owns partition {partition} for another {seconds:.1f} s")
        self.node = node
        self.seconds = seconds


async def create(connection: Connection, asked: int) -> int:
    """Makes the partitions of a new database, which no node has led yet. Returns how many partitions there are."""
    deadline = trio.current_time() + MAKE_TIMEOUT_S
    async with connection.transaction(deadline=deadline):
        ((is_new,),) = (await connection.execute(_sql["lock_first"], deadline=deadline)).rows
        count: int = (await connection.execute(_sql["count"])).rows[0][0]
        if not is_new or count >= asked:
            return count
        await connection.execute(_sql["make_partitions"], (count + 1, asked), deadline=deadline)
        await connection.execute(_sql["spread_slots"], (asked,), deadline=deadline)
    return asked


async def prepare(connection: Connection) -> None:
    """Makes the settings of a consumer's session: access by index, and a limit on the length of a transaction."""
    await plans.use_indexes(connection)
    if connection.server_version >= TRANSACTION_TIMEOUT_VERSION:
        await connection.execute(_sql["transaction_timeout"])


async def claim(writer: Connection, partition: int, node: str) -> Claim:
    """Begins a term on `writer`, the connection that commits its batches.

    Raises:
        Owned: the lease of another node is still running.
        Conflict: a frozen owner held the row, and its backend was ended. Try again.
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
    await writer.execute(_sql["skip_lost"])
    position, next_key, moved_by = (await writer.execute(_sql["cursor"], (partition,))).rows[0]
    return Claim(partition, rows[0][0], position, next_key, moved_by, rows[0][1])


async def hand_over(writer: Connection, claim: Claim) -> None:
    """Ends the lease now: any node may claim.

    Raises:
        SteppedDown: another term has begun.
    """
    if not (await writer.execute(_sql["hand_over"], (claim.partition, claim.epoch))).rows:
        raise SteppedDown(f"partition {claim.partition} is no longer owned by epoch {claim.epoch}")


async def _owner(writer: Connection, partition: int) -> tuple[int, str | None, float]:
    """The last epoch, its node, and the rest of its lease in seconds."""
    epoch, node, seconds = (await writer.execute(_sql["owner"], (partition,))).rows[0]
    return epoch, node, seconds or 0.0


async def renew(writer: Connection, claim: Claim) -> None:
    """Renews the lease for its full length from now.

    Raises:
        SteppedDown: another term has begun.
    """
    if not (await writer.execute(_sql["renew"], (claim.partition, claim.epoch, LEASE_S))).rows:
        raise SteppedDown(f"partition {claim.partition} is no longer owned by epoch {claim.epoch}")
