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
from vivero.storage.schema.migration_files import SCHEMA_VERSION

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
    calls = [plans.by_index()]
    if connection.server_version >= TRANSACTION_TIMEOUT_VERSION:
        calls.append((_sql["transaction_timeout"], ()))
    await connection.pipeline(calls)


async def claim(writer: Connection, partition: int, node: str) -> Claim:
    """Begins a term on `writer`, the connection that commits its batches.

    If a frozen owner holds the row, its backend is ended.

    Raises:
        Owned: the lease of another node is still running.
        Conflict: an owner holds the row, and its lease is still running. Try again.
    """
    try:
        rows = await _claimed(writer, partition, node)
    except Conflict as conflict:
        if conflict.sqlstate != LOCK_NOT_AVAILABLE:
            raise
        await writer.execute(_sql["end_owner"], (partition, LEASE_S))
        rows = await _claimed(writer, partition, node)
    if not rows:
        _, owner, seconds = (await writer.execute(_sql["owner"], (partition,))).rows[0]
        raise Owned(partition, owner, max(seconds or 0.0, 0.0))
    _, cursor = await writer.pipeline([(_sql["skip_lost"], ()), (_sql["cursor"], (partition,))])
    position, next_key, moved_by = cursor.rows[0]
    return Claim(partition, rows[0][0], position, next_key, moved_by, rows[0][1])


async def _claimed(writer: Connection, partition: int, node: str) -> list[tuple[int, int]]:
    """The new epoch, and the last one that was handed over. Empty: the lease of another node is still running, or
    this program is too old for the schema."""
    _, owner = await writer.pipeline([(_sql["lock_timeout"], ()), (_sql["owner"], (partition,))])
    return (await writer.execute(_sql["claim"], (partition, node, LEASE_S, owner.rows[0][0], SCHEMA_VERSION))).rows


async def hand_over(writer: Connection, claim: Claim) -> None:
    """Ends the lease now: any node may claim.

    Raises:
        SteppedDown: another term has begun.
    """
    if not (await writer.execute(_sql["hand_over"], (claim.partition, claim.epoch))).rows:
        raise SteppedDown(f"partition {claim.partition} is no longer owned by epoch {claim.epoch}")


async def renew(writer: Connection, claim: Claim) -> None:
    """Renews the lease for its full length from now.

    Raises:
        SteppedDown: another term has begun.
    """
    if not (await writer.execute(_sql["renew"], (claim.partition, claim.epoch, LEASE_S))).rows:
        raise SteppedDown(f"partition {claim.partition} is no longer owned by epoch {claim.epoch}")
