"""The `new` commands that wait for capacity in the log of one partition, and how many may wait.

A full log of one partition holds back only its own commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import trio

from vivero.engine.appender.calls import AppendCall, PendingCommand
from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.appender.pace import AppendPace, PaceSettings
from vivero.engine.outcomes.replies import received

PERIOD_S = 0.5
"""The admitted commands are counted for this long."""
WAIT_SHARE = 0.4
"""The queue takes what is admitted within this share of the longest wait."""


class QueueLimit:
    """The number of new commands that may wait: as many as are admitted in time, at the rate of the last periods.

    A command that waits in vain costs as much as one that is admitted. A refusal before its body is read costs little.
    """

    def __init__(self, most: int, least: int, wait_s: float) -> None:
        """At most `most` and at least `least`; a command is given up after `wait_s` seconds."""
        self._most, self._least, self._wait_s = most, min(least, most), wait_s
        self._began = float("-inf")
        self._admitted = 0
        self._was_empty = True
        self.commands = most

    def note_admitted(self) -> None:
        """A command has left the queue for the log."""
        self._admitted += 1

    def note_empty(self) -> None:
        """The log has capacity and no command waits: the clients do not ask for too much."""
        self._was_empty = True

    def measure(self, now: float) -> None:
        """End a period if it is time. After one with an empty queue the limit doubles, so it never stays too low."""
        elapsed_s = now - self._began
        if elapsed_s < PERIOD_S:
            return
        fitting = 2 * self.commands if self._was_empty else self._in_time(elapsed_s)
        self.commands = max(self._least, min(self._most, fitting))
        self._began, self._admitted, self._was_empty = now, 0, False

    def _in_time(self, elapsed_s: float) -> int:
        """The number of commands that this period's rate admits in time; the earlier number counts half."""
        in_time = self._admitted / elapsed_s * self._wait_s * WAIT_SHARE
        return int(in_time if self.commands == self._most else (in_time + self.commands) / 2)


class NewCommands:
    """A bounded queue, and the pace at which its commands enter the log."""

    def __init__(self, limit: int, pace: PaceSettings, wait_s: float = 1.0) -> None:
        """At most `limit` commands wait, each at most `wait_s` seconds."""
        self.limit = QueueLimit(limit, 2 * pace.least, wait_s)
        self._waiting: deque[PendingCommand] = deque()
        self.pace = AppendPace(pace)
        self.first: PendingCommand | None = None
        """The first of the commands, if they wait for capacity in the log."""
        self._capacity = 0.0

    @property
    def full(self) -> bool:
        return len(self._waiting) >= self.limit.commands

    @property
    def busy(self) -> bool:
        """Whether a command waits."""
        return self.first is not None or bool(self._waiting)

    def put_nowait(self, pending: PendingCommand) -> None:
        """Raises trio.WouldBlock when the queue is full."""
        if self.full:
            raise trio.WouldBlock
        self._waiting.append(pending)

    def measure_capacity(self, progress: LogProgress | None) -> float:
        """The log's capacity, in commands. `progress` is None without a known owner, who decides."""
        if progress is None:
            self.pace.forget()
            self._capacity = float("inf")
        else:
            now = trio.current_time()
            self.pace.processed(progress.position, now)
            self.limit.measure(now)
            self._capacity = self.pace.capacity()
        return self._capacity

    def take(self) -> PendingCommand | None:
        """The next command, if the log had capacity for it when it was measured; otherwise it is kept."""
        first = self.first
        if first is None or first.withdrawn:
            first = self._next()
        fits = self._capacity >= 1
        self.first = None if fits else first
        self.pace.filled = self.first is not None
        if not fits:
            return None
        if first is None:
            self.limit.note_empty()
        else:
            self._capacity -= 1
            self.limit.note_admitted()
        return first

    def _next(self) -> PendingCommand | None:
        """The next command that was not withdrawn."""
        while self._waiting:
            pending = self._waiting.popleft()
            if not pending.withdrawn:
                return pending
        return None


def next_work(channel: trio.MemoryReceiveChannel[PendingCommand]) -> PendingCommand | None:
    """The next command that was not withdrawn."""
    while (pending := received(channel)) is not None and pending.withdrawn:
        pass
    return pending


def next_new(queues: deque[NewCommands]) -> PendingCommand | None:
    """The next command of the queues in turn. Drops a queue that has none, or no capacity."""
    while queues:
        pending = queues[0].take()
        if pending is not None:
            queues.rotate(-1)
            return pending
        queues.popleft()
    return None


def _in_order(work: trio.MemoryReceiveChannel[PendingCommand], new: deque[NewCommands]) -> Iterator[PendingCommand]:
    """The commands of running work, which does not grow meanwhile, and then the new ones."""
    while (pending := next_work(work)) is not None:
        yield pending
    while (pending := next_new(new)) is not None:
        yield pending


def gather(
    work: trio.MemoryReceiveChannel[PendingCommand], new: deque[NewCommands], most: int, most_bytes: int
) -> list[AppendCall]:
    """One call for each partition, `work` first, until they have `most` commands or `most_bytes`."""
    groups: dict[int, list[PendingCommand]] = {}
    count, size = 0, 0
    for pending in _in_order(work, new):
        groups.setdefault(pending.partition, []).append(pending)
        count, size = count + 1, size + pending.size
        if count >= most or size >= most_bytes:
            break
    return [AppendCall(partition, items) for partition, items in groups.items()]
