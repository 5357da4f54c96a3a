"""Commands that clients queue in transactions of their own, on their way to the log (docs/your-own-transaction.md).

The functions of migration 0107 queue them. Every call here is one statement in autocommit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

BACKGROUND_JOBS = 0
"""The partition of the inbox that has background jobs (`job_executions.take_queued`)."""


class Taken(NamedTuple):
    """The last position in the log and the last id of what was moved. Both are None if nothing was there."""

    last_position: int | None
    last_id: int | None


class QueuedOutcome(NamedTuple):
    """QUEUED, APPENDED, DONE, REJECTED (with code and reason), or ERASED, and the answer of the engine.

    A command has a position in the log, a background job the id of its execution.
    """

    state: str
    position: int | None
    execution_id: str | None
    code: str | None
    reason: str | None
    answer: Any

    def document(self, id: int) -> dict[str, Any]:
        """The outcome of the command `id` with the members of the REST API."""
        return {
            "id": str(id),
            "state": self.state,
            "commandPosition": None if self.position is None else str(self.position),
            "backgroundJobId": self.execution_id,
            "code": self.code,
            "reason": self.reason,
            "answer": self.answer,
        }


async def waiting(connection: Connection, above: Mapping[int, int], within_ms: int | None = None) -> list[int]:
    """The partitions with rows behind the id that `above` gives.

    `within_ms`: only rows of transactions that began so short a time ago.
    """
    found = await connection.execute(_sql["waiting"], (list(above), list(above.values()), within_ms))
    return [partition for (partition,) in found.rows]


async def take(
    connection: Connection, partition: int, above: int, most: int, most_bytes: int, within_ms: int | None = None
) -> Taken:
    """Move up to `most` committed rows behind the id `above` to the log of `partition`, in the order of their ids.

    Payloads of `most_bytes` are the last ones of a call. `within_ms`: only rows of transactions that began so short a
    time ago. Those that began before the id `above` was given out keep their order only if `above` is 0.
    """
    values = (partition, above, most, most_bytes, within_ms)
    return Taken(*(await connection.execute(_sql["take"], values)).rows[0])


async def outcome(connection: Connection, id: int) -> QueuedOutcome | None:
    """The outcome of a command; None if it is not queued, and was not in the last day."""
    rows = (await connection.execute(_sql["outcome"], (id,))).rows
    if not rows:
        return None
    state, position, execution_id, code, reason, answer = rows[0]
    document = None if answer is None else msgspec.json.decode(answer)
    return QueuedOutcome(state, position, execution_id, code, reason, document)


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Delete up to `limit` outcomes that are older than `age_ms`; returns their number."""
    return (await connection.execute(_sql["purge"], (age_ms, limit))).count
