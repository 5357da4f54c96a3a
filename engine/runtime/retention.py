"""Task: deletion of rows that ended long ago (docs/messages.md, docs/timers.md).

Ended rows stay for searches for `ended_days`, by the engine's clock. Idempotency keys always stay for a day, and for
another hour so that none disappears while an append reads it. The task then deletes them, the oldest first, one bounded
batch of each table at a time. No statement is long, none waits for a row lock, and none goes through the log, because
the core never reads such rows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import InitVar, dataclass, field

import structlog

from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage import audit_log, timers
from vivero.storage import log as command_log
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import message_channels

log = structlog.get_logger(__name__)

DAY_MS = 24 * 3600 * 1000
FOR_EVER_DAYS = 365_000
"""A longer time makes no difference, and gives dates that PostgreSQL cannot represent."""

Purge = Callable[[Connection, int, int], Awaitable[int]]
"""(connection, age in ms, limit): delete up to `limit` rows that ended longer ago; the number of rows."""

PURGES: Mapping[str, Purge] = {
    "subscriptions": message_channels.purge_subscriptions,
    "message_correlations": message_channels.purge_correlations,
    "timers": timers.purge,
}
"""By table."""
AUDIT = "audit_log"
KEYS = "idempotency_keys"
KEYS_MARGIN_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long ended rows and audit records stay, and how they are deleted."""

    ended_days: float = 30.0
    """0 keeps them for ever."""
    audit_days: float = 365.0
    """How long records of the audit log stay, by the database's time; 0 keeps them for ever."""
    every_s: float = 60.0
    rows: int = 500
    """Rows of one table that are deleted at once."""
    pause_s: float = 0.2
    """The pause between two batches while there is more to delete."""
    call_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if min(self.ended_days, self.audit_days) < 0 or self.rows < 1:
            raise ValueError("ended_days and audit_days must not be negative, and rows must be at least 1")


@dataclass(slots=True)
class Retention:
    """The handle of the task; `run` is the child. `leads()` tells whether this node does the deletion."""

    connect: InitVar[Callable[[], Awaitable[Connection]]]
    settings: RetentionSettings = field(default_factory=RetentionSettings)
    leads: Callable[[], bool] = lambda: True
    deleted: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*PURGES, AUDIT, KEYS), 0))
    """The number of rows deleted so far by table, for metrics and tests."""
    _connection: DedicatedConnection = field(init=False)

    def __post_init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connection = DedicatedConnection(connect)

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Delete rows until cancelled. Raises when the connection is lost; the supervisor restarts it."""
        while True:
            await beat.sleep(self.settings.every_s)
            if self.leads():
                await self._delete_all(beat)

    async def _delete_all(self, beat: Beat) -> None:
        """Delete all rows that are due. The connection is open only meanwhile."""
        async with self._connection.opened(beat) as connection:
            while await self.run_once(connection, beat) and self.leads():
                await beat.sleep(self.settings.pause_s)

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """Delete one batch of each table. True if there is more."""
        settings, more = self.settings, False
        batches = [(table, purge, _ms(settings.ended_days)) for table, purge in PURGES.items() if settings.ended_days]
        if settings.audit_days:
            batches.append((AUDIT, audit_log.purge, _ms(settings.audit_days)))
        for table, purge, age_ms in [*batches, (KEYS, command_log.purge_keys, KEYS_MARGIN_MS)]:
            with beat.waiting(settings.call_timeout_s):
                count = await purge(connection, age_ms, settings.rows)
            self.deleted[table] += count
            more = more or count == settings.rows
            if count:
                log.debug("deleted rows that ended long ago", table=table, rows=count)
        return more


def _ms(days: float) -> int:
    return int(min(days, FOR_EVER_DAYS) * DAY_MS)
