"""The `new` commands that wait for capacity in the log of one partition.

A full log of one partition holds back only its own commands.
"""

from __future__ import annotations

from collections import deque

import trio

from vivero.engine.runtime.appender.calls import PendingCommand
from vivero.engine.runtime.appender.forwarding import Consumed
from vivero.engine.runtime.appender.pace import Pace, PaceSettings


class NewCommands:
    """A bounded queue, and the pace at which its commands enter the log."""

    def __init__(self, limit: int, pace: PaceSettings) -> None:
        self._limit = limit
        self._waiting: deque[PendingCommand] = deque()
        self.pace = Pace(pace)
        self.first: PendingCommand | None = None
        """The first of the commands, if they wait for capacity in the log."""
        self._capacity = 0.0

    @property
    def full(self) -> bool:
        return len(self._waiting) >= self._limit

    @property
    def busy(self) -> bool:
        """Whether a command waits."""
        return self.first is not None or bool(self._waiting)

    def put_nowait(self, pending: PendingCommand) -> None:
        """Raises trio.WouldBlock when the queue is full."""
        if self.full:
            raise trio.WouldBlock
        self._waiting.append(pending)

    def measure_capacity(self, consumed: Consumed | None) -> float:
        """How many commands the log has capacity for. `consumed` is None without a known owner, who decides."""
        if consumed is None:
            self.pace.forget()
            self._capacity = float("inf")
        else:
            self.pace.processed(consumed.position, trio.current_time())
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
        self._capacity -= first is not None
        return first

    def _next(self) -> PendingCommand | None:
        """The next command that was not withdrawn."""
        while self._waiting:
            pending = self._waiting.popleft()
            if not pending.withdrawn:
                return pending
        return None


def received(channel: trio.MemoryReceiveChannel[PendingCommand]) -> PendingCommand | None:
    """The next command that was not withdrawn."""
    while True:
        try:
            pending = channel.receive_nowait()
        except trio.WouldBlock:
            return None
        if not pending.withdrawn:
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
