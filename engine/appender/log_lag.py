"""The last position of each log, and the commands of it that wait for an engine."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.appender.settings import AppenderSettings

SKIPPED = 1_000_000
"""The least number of positions that are skipped after a crash of PostgreSQL (`skip_lost_positions`).

More are skipped in a database that was idle for long. So many commands never wait at once: a longer distance is a jump.
"""


class LogLag:
    """The last positions of the logs, and of those without an owner the positions behind which commands wait."""

    def __init__(self, settings: AppenderSettings) -> None:
        self._settings = settings
        self._last: dict[int, int] = {}
        self._cursors: dict[int, int] = {}

    def __iter__(self) -> Iterator[int]:
        """The partitions whose logs are known."""
        return iter(self._last)

    def forget(self) -> None:
        """Nothing is known: the database may be another one."""
        self._last.clear()
        self._cursors.clear()

    def last(self, partition: int) -> int | None:
        """The highest known position of the partition's log."""
        return self._last.get(partition)

    def appended(self, partition: int, position: int) -> None:
        """The log goes up to this position. None of the positions that a crash skipped has a command."""
        known = self._last.get(partition, position)
        if position - known >= SKIPPED and partition in self._cursors:
            self._cursors[partition] += position - known - 1
        self._last[partition] = max(position, known)

    def counted(self, partition: int, cursor: int) -> None:
        """Nobody leads the partition, and the commands between `cursor` and the last position wait."""
        self._cursors[partition] = cursor

    def led(self, partition: int) -> None:
        """An engine leads the partition. When it ends, what was counted before it says nothing of what waits then."""
        self._cursors.pop(partition, None)

    def refusal(self, partition: int, progress: LogProgress | None, unprocessed: int) -> str | None:
        """The reason why the log takes no new command; None if it takes one.

        `progress` is None without a known owner. `unprocessed` is the number of commands that this node has appended
        lately and that are not processed: they count when a jump lies between the owner and the end of the log.
        """
        last = self._last.get(partition, 0)
        if progress is None:
            backlog = last - self._cursors.get(partition, last)
            refuses = backlog >= self._settings.backlog
            return f"{backlog} commands wait for an engine to process them" if refuses else None
        lag = last - progress.position
        if lag >= SKIPPED:
            lag = unprocessed
        if lag > max(self._settings.lag_commands, progress.per_second * self._settings.lag_s):
            return f"the engine is {lag} commands behind"
        return None
