"""Maintenance of a partition's tables in its term, in short statements. In another term they change nothing."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


async def make_log_partitions(connection: Connection, partition: int, epoch: int) -> int:
    """Creates the log partitions for the next twenty million positions; returns the number of ranges that lacked them.

    Raises:
        Conflict: another session holds a conflicting lock; try again later.
    """
    missing = (await connection.execute(_sql["missing_log_partitions"], (partition, epoch))).rows
    for (first,) in missing:
        await connection.execute(_sql["make_log_partitions"], (first,))
    return len(missing)


async def trim_cursor(connection: Connection, partition: int, epoch: int, trimmed_until: int | None) -> int:
    """Deletes all but the last thousand rows of the partition's cursor; returns the position for the next trim.

    `trimmed_until` is the result of the last call, None for the first call.
    """
    if trimmed_until is None:
        trimmed_until = (await connection.execute(_sql["trim_from"], (partition,))).rows[0][0]
    result: int = (await connection.execute(_sql["trim"], (partition, trimmed_until, epoch))).rows[0][0]
    return result


async def total_element_counts(connection: Connection, partition: int, epoch: int, most: int) -> int:
    """Adds up to `most` changes of the counts of elements, and of jobs, to their totals; returns the larger number."""
    result: int = (await connection.execute(_sql["total_element_counts"], (partition, most, epoch))).rows[0][0]
    return result
