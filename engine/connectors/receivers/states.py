"""The states of receivers, and their counts, which metrics read without the code of receivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import trio

from vivero.engine.connectors.errors import ConnectorError

ACTIVE, FAILING = "ACTIVE", "FAILING"
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
    kept: dict[str, Any] = field(default_factory=dict)
    """Values of the receiver that the next run after a failure needs."""

    def took(self) -> None:
        """An event has its effect, durably."""
        self.state, self.events, self.event_at, self.is_saved = ACTIVE, self.events + 1, trio.current_time(), False

    def works(self) -> None:
        """The other system answered."""
        if self.state != ACTIVE:
            self.state, self.is_saved = ACTIVE, False

    def failed(self, error: ConnectorError) -> None:
        """Something went wrong. The receiver goes on."""
        self.state, self.errors, self.error_at, self.is_saved = FAILING, self.errors + 1, trio.current_time(), False
        self.error = str(error)[:MOST_SHOWN].replace("\0", "\ufffd")

    def waits(self, count: int) -> None:
        """The number of element instances that wait."""
        if self.waiting != count:
            self.waiting, self.is_saved = count, False
