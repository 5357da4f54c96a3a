"""Task: the end of what has ended (docs/messages.md, docs/timers.md).

Rows that nobody will change any more stay for searches as long as `ended_days` says, by the engine's clock; idempotency
keys, whatever it says, for their day (and an hour, so that none goes that an append is looking at). Then they are
deleted, the oldest first, a bounded piece of each table at a time: no statement is long, none waits for a row, and the
log does not hear of it, because the core never reads such rows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import InitVar, dataclass, field

import structlog

from vivero.engine.runtime.dedicated_connection import DedicatedConnection
from vivero.engine.runtime.supervision.beat import Beat
from vivero.storage import log as command_log
from vivero.storage import timers
from vivero.storage.postgres.driver import Connection
from vivero.storage.state import channels

log = structlog.get_logger(__name__)

DAY_MS = 24 * 3600 * 1000
FOR_EVER_DAYS = 365_000
"""More makes no difference, but dates that PostgreSQL does not have."""

Purge = Callable[[Connection, int, int], Awaitable[int]]
"""(connection, age, limit): delete up to `limit` rows that ended longer ago than that (ms); how many there were."""

PURGES: Mapping[str, Purge] = {
    "subscriptions": channels.purge_subscriptions,
    "message_correlations": channels.purge_correlations,
    "timers": timers.purge,
}
"""By table."""
KEYS = "idempotency_keys"
KEYS_MARGIN_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long what has ended stays, and how it is deleted."""

    ended_days: float = 30.0
    """0: for ever."""
    every_s: float = 60.0
    rows: int = 500
    """Of a table, at once."""
    pause_s: float = 0.2
    """Between two pieces, while there is more."""
    call_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if self.ended_days < 0 or self.rows < 1:
            raise ValueError("retention needs ended_days >= 0 and rows >= 1")


@dataclass(slots=True)
class Retention:
    """The handle of the task; `run` is the child. `leads`: whether this node looks after the tables."""

    connect: InitVar[Callable[[], Awaitable[Connection]]]
    settings: RetentionSettings = field(default_factory=RetentionSettings)
    leads: Callable[[], bool] = lambda: True
    deleted: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*PURGES, KEYS), 0))
    """Rows so far, by table; for metrics and tests."""
    _connection: DedicatedConnection = field(init=False)

    def __post_init__(self, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._connection = DedicatedConnection(connect)

    def close(self) -> None:
        """Shut the socket, so that a call behind a black hole ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Delete, until cancelled. Raises when the connection is lost, to be started again."""
        while True:
            await beat.sleep(self.settings.every_s)
            if self.leads():
                await self._look(beat)

    async def _look(self, beat: Beat) -> None:
        """Delete all there is. The connection is there for as long as that takes: most of the time nobody needs it."""
        async with self._connection.opened(beat) as connection:
            while await self.run_once(connection, beat) and self.leads():
                await beat.sleep(self.settings.pause_s)

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """A piece of each table; whether there is more."""
        settings, more = self.settings, False
        kept_ms = int(min(settings.ended_days, FOR_EVER_DAYS) * DAY_MS)
        pieces = [(table, purge, kept_ms) for table, purge in PURGES.items() if settings.ended_days]
        for table, purge, age_ms in [*pieces, (KEYS, command_log.purge_keys, KEYS_MARGIN_MS)]:
            with beat.waiting(settings.call_timeout_s):
                count = await purge(connection, age_ms, settings.rows)
            self.deleted[table] += count
            more = more or count == settings.rows
            if count:
                log.debug("deleted what ended long ago", table=table, rows=count)
        return more
