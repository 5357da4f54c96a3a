"""The number of commands of batch operations in the log: far fewer while others have commands, too.

A command of others waits behind all that is in the log when it comes. Alone, a batch fills the log for a tenth of a
second. Beside others, it sends as much as the engine processes in some milliseconds, and rests after that (`rests`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import trio

from vivero.core.partitions.keys import partition_of
from vivero.engine.timers.pace import LEAST, TriggerPace
from vivero.storage.log.command_log import CommandOutcome

BESIDE_S = 0.005
"""The wait of others' commands behind those of batches, if there are any."""
COMPANY_S = 1.0
"""Others count as having commands for this long after their last one."""


class ItemPace:
    """The number of unprocessed commands of batches. It learns from commits whether others have commands.

    This node hears of the commits of partitions that it leads, with the answers in them: the follow-ups of items, which
    are in the log, too, have none. The outcomes of items tell of the other partitions, later, by the gaps between them.
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
        self._answers: dict[int, list[Sequence[CommandOutcome]]] = {}
        """Partition that this node leads → the answers of commits that are not judged yet."""
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

    def committed(self, partition: int, watermark: int, answers: Sequence[CommandOutcome] | None = None) -> bool:
        """The log of a partition is processed up to this position; whether known commands of batches are, too.

        `answers`: those of the commit, if this node leads the partition.
        """
        if answers is not None:
            self._answers.setdefault(partition, []).append(answers)
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
        """Measure the own commands among those that were processed since the last time; whether there were any."""
        watermark = self._processed[partition]
        before, self._judged[partition] = self._judged.get(partition, watermark), watermark
        own = self._taken(partition, watermark)
        if self._others_had_commands(partition, before, watermark, own):
            self._others_at = trio.current_time()
        if own:
            self._pace.processed(trio.current_time() - next(iter(own.values())), full=True)
        return bool(own)

    def _others_had_commands(self, partition: int, before: int, watermark: int, own: Mapping[int, float]) -> bool:
        answers = self._answers.pop(partition, None)
        if answers is None:
            return watermark - before > len(own)
        return any(
            before < each.position <= watermark and each.position not in own for some in answers for each in some
        )

    def _taken(self, partition: int, upto: int) -> dict[int, float]:
        """Forget the own commands up to a position: position → when they were appended, the oldest first."""
        own, found = self._own.get(partition, deque()), dict[int, float]()
        while own and own[0][0] <= upto:
            position, since = own.popleft()
            found[position] = since
        return found
