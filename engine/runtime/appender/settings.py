"""Limits of the log appender, what they hold for, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass

from vivero.engine.core.records.base import Command
from vivero.engine.core.records.catalogue import Deploy
from vivero.engine.core.records.instances import CreateInstance
from vivero.engine.core.records.messages import CorrelateMessage, PublishMessage
from vivero.engine.core.records.signals import BroadcastSignal
from vivero.engine.runtime.appender.pace import PaceSettings

NEW: tuple[type[Command], ...] = (CreateInstance, Deploy, PublishMessage, CorrelateMessage, BroadcastSignal)
"""What makes more work, and is therefore refused first. All else is accepted as long as there is room."""

NEW_GO_TO = 1
"""The partition whose log has to have room for them."""


@dataclass(frozen=True, slots=True)
class AppenderSettings:
    """Limits of the appender."""

    work_channel: int = 10_000
    new_channel: int = 1_000
    call_count: int = 500
    call_bytes: int = 1_000_000
    """A call takes no further entry once it has this much."""
    call_timeout_s: float = 5.0
    new_least: int = 32
    """`new` commands that may always stand in the log and wait for the engine …"""
    new_most: int = 1_000
    """… and so many at most; in between as many as let running work wait for `work_lag_s`
    (`engine.runtime.appender.pace`)."""
    new_wait_s: float = 1.0
    """`new` that had no room in the log for this long is refused."""
    work_lag_s: float = 0.025
    lag_commands: int = 1_000
    """`new` is refused when the owner is behind by more than this, and by more than it works off in `lag_s`."""
    lag_s: float = 0.5
    backlog: int = 1_000_000
    """Without a live owner `new` is queued up to this many unprocessed commands."""
    forward_count: int = 500
    poll_s: float = 1.0
    outage_patience_s: float = 2.0
    """PostgreSQL away for this long: appends are refused at once instead of waiting for their deadlines."""

    @property
    def pace(self) -> PaceSettings:
        """Of what is new."""
        return PaceSettings(self.new_least, self.new_most, self.work_lag_s, self.lag_s)


@dataclass(slots=True)
class AppenderStats:
    """Counters for metrics and tests; they only grow."""

    commands: int = 0
    """Written to the log by this node, forwarded ones aside."""
    replays: int = 0
    calls: int = 0
    repeated: int = 0
    """Calls that were made again because nobody knew what had come of them."""
    refused: int = 0
    """Commands with a value that PostgreSQL refuses."""
    overloaded: int = 0
    """Commands that were turned away because a limit was reached."""
