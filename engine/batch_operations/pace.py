"""The number of commands of batch operations in the log: far fewer while others have commands, too.

A command of others waits behind all that is in the log when it comes. Alone, a batch fills the log for a tenth of a
second. Beside others, it sends as much as the engine processes in some milliseconds, and rests after that (`rests`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import trio

from vivero.core.partitions.keys import partition_of
from vivero.engine.timers.pace import LEAST, TriggerPace

BESIDE_S = 0.005
"""The wait of others' commands behind those of batches, if there are any."""
COMPANY_S = 1.0
"""Others count as having commands for this long after their last one."""


class ItemPace:
    """The number of unprocessed commands of batches. It learns from commits whether others have commands.

    This node hears of the commits of partitions that it leads. The outcomes of items tell of the others, later.
    """

    def __init__(self, most: int, delay_s: float) -> None:
        """`delay_s`: for how long the engine may process commands of batches that nobody waits behind."""
        self._alone = TriggerPace(most, delay_s)
        self._beside = TriggerPace(most, min(delay_s, BESIDE_S), first=LEAST)
        self._others_at = float("-inf")
        self._appending = False
        self._own: dict[int, deque[tuple[int, float]]] = {}
        """Partition → positions of commands and when they were appended (Trio's clock), the oldest first."""
        self._processed: dict[int, int] = {}
        self._judged: dict[int, int] = {}
        """Partition → the position up to which commands are known as own ones or those of others."""

    @property
    def allowed(self) -> int:
        """The number of unprocessed commands of batches that the log may hold."""
        return self._pace.allowed

    @property
    def beside(self) -> bool:
        """Whether others had commands lately."""
        return trio.current_time() - self._others_at < COMPANY_S

    @property
    def _pace(self) -> TriggerPace:
        return self._beside if self.beside else self._alone

    def forget(self) -> None:
        """Forget the commands on their way: another connection may know nothing of them."""
        self._own.clear()
        self._appending = False

    def append(self) -> None:
        """An append begins. Its commands may be processed before it ends, and are not those of others."""
        self._appending = True

    def appended(self, positions: Iterable[int] = ()) -> None:
        """The append has ended; without positions, it failed."""
        self._appending = False
        now = trio.current_time()
        for position in positions:
            own = self._own.setdefault(partition_of(position), deque())
            own.append((position, now))
        for partition in self._processed:
            self._judge(partition)

    def committed(self, partition: int, watermark: int) -> bool:
        """The log of a partition is processed up to this position; whether known commands of batches are, too."""
        self._processed[partition] = max(watermark, self._processed.get(partition, watermark))
        return not self._appending and self._judge(partition)

    def settled(self, positions: Sequence[int]) -> None:
        """Commands have outcomes: their logs are processed up to them, also logs that other nodes lead."""
        latest: dict[int, int] = {}
        for position in positions:
            partition = partition_of(position)
            latest[partition] = max(position, latest.get(partition, position))
        for partition, position in latest.items():
            self.committed(partition, position)

    def _judge(self, partition: int) -> bool:
        """Measure the own commands among those that were processed since the last time; the rest are others'.

        Returns whether there were own ones.
        """
        watermark = self._processed[partition]
        before, self._judged[partition] = self._judged.get(partition, watermark), watermark
        since = self._taken(partition, watermark)
        if watermark - before > len(since):
            self._others_at = trio.current_time()
        self._note(since)
        return bool(since)

    def _taken(self, partition: int, upto: int) -> list[float]:
        """Forget the own commands up to a position; when they were appended."""
        own, found = self._own.get(partition, deque()), list[float]()
        while own and own[0][0] <= upto:
            found.append(own.popleft()[1])
        return found

    def _note(self, since: list[float]) -> None:
        if since:
            self._pace.processed(trio.current_time() - since[0], full=True)
