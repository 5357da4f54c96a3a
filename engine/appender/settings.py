"""Settings and counters of the log appender."""

from __future__ import annotations

from dataclasses import dataclass, field

from vivero.engine.appender.pace import PaceSettings
from vivero.engine.counters.buckets import Buckets


@dataclass(frozen=True, slots=True)
class AppenderSettings:
    """Limits of the appender."""

    work_channel: int = 10_000
    new_channel: int = 1_000
    call_count: int = 500
    call_bytes: int = 1_000_000
    """A call that has this many bytes takes no further entry."""
    call_timeout_s: float = 5.0
    new_least: int = 32
    """The log may always hold this many unprocessed `new` commands …"""
    new_most: int = 1_000
    """… and never more than this. In between, the number follows `work_lag_s` (`engine.appender.pace`)."""
    new_wait_s: float = 1.0
    """A `new` command is given up after waiting this long for capacity in the log."""
    work_lag_s: float = 0.025
    lag_commands: int = 1_000
    """`new` is not admitted if the owner is behind by more than this, and by more than it processes in `lag_s`."""
    lag_s: float = 0.5
    backlog: int = 1_000_000
    """Without a live owner, `new` is appended up to this many unprocessed commands."""
    forward_count: int = 500
    poll_s: float = 1.0
    outage_patience_s: float = 2.0
    """After an outage of this length, appends fail at once instead of waiting for their deadlines."""

    @property
    def pace(self) -> PaceSettings:
        """The settings of the pace of `new` commands."""
        return PaceSettings(self.new_least, self.new_most, self.work_lag_s, self.lag_s)


@dataclass(slots=True)
class AppenderStats:
    """Counters for metrics and tests; they only grow."""

    commands: int = 0
    """Written to the log by this node, without those forwarded from inboxes."""
    replays: int = 0
    calls: int = 0
    repeated: int = 0
    """Calls that were repeated because their outcome was unknown."""
    rejected: int = 0
    """Commands with a value that PostgreSQL rejects."""
    overloaded: int = 0
    """Commands that were not admitted because a limit was reached."""
    call_s: Buckets = field(default_factory=Buckets)
    """The time of a call."""
    waited_s: Buckets = field(default_factory=Buckets)
    """The time from the first command of a call to its positions."""
