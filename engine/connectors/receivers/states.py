"""The states of receivers, and their counts, which metrics read without the code of receivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import trio

from vivero.engine.connectors.errors import ConnectorError

ACTIVE, FAILING = "ACTIVE", "FAILING"
RECOVERED_S = 20.0
"""The time without a failure after which a receiver is active again whose other system has nothing for it."""
MOST_SHOWN = 300
"""Characters of an error that are stored."""


@dataclass(slots=True)
class ReceiverFigures:
    """Counts of a node since the program started."""

    events: int = 0
    errors: int = 0


@dataclass(slots=True)
class ReceiverState:
    """The state of a receiver since its node works it. Times are those of Trio's clock."""

    state: str = ACTIVE
    waiting: int = 0
    """The element instances that it works for."""
    events: int = 0
    errors: int = 0
    event_at: float | None = None
    error_at: float | None = None
    error: str | None = None
    """Without values of variables: those are in the log of the server."""
    is_saved: bool = False
    has_worked: bool = False
    """In this run: the other system has answered, or an event had its effect."""
    kept: dict[str, Any] = field(default_factory=dict)
    """Values of the receiver that the next run after a failure needs."""

    def took(self) -> None:
        """An event has its effect, durably."""
        self.state, self.events, self.event_at, self.is_saved = ACTIVE, self.events + 1, trio.current_time(), False
        self.has_worked = True

    def works(self) -> None:
        """The other system answered."""
        self.has_worked = True
        if self.state != ACTIVE:
            self.state, self.is_saved = ACTIVE, False

    def failed(self, error: ConnectorError) -> None:
        """Something went wrong. The receiver goes on."""
        self.state, self.errors, self.error_at, self.is_saved = FAILING, self.errors + 1, trio.current_time(), False
        self.error = str(error)[:MOST_SHOWN].replace("\0", "\ufffd")

    @property
    def is_due(self) -> bool:
        """Whether a failure is so long ago that it stands for nothing any more, if the connection still exists."""
        last = float("-inf") if self.error_at is None else self.error_at
        return self.state != ACTIVE and trio.current_time() >= last + RECOVERED_S

    async def recover(self) -> None:
        """Be active again after failures, as long as the connection exists. Cancel it when that has ended."""
        while True:
            await trio.sleep(RECOVERED_S / 2)
            if self.is_due:
                self.works()

    def waits(self, count: int) -> None:
        """The number of element instances that wait."""
        if self.waiting != count:
            self.waiting, self.is_saved = count, False
