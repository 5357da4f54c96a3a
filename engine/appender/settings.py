"""Settings and counters of the log appender."""

from __future__ import annotations

from dataclasses import dataclass, field

from vivero.engine.appender.pace import PaceSettings
from vivero.engine.counters.buckets import Buckets


@dataclass(frozen=True, slots=True)
class AppenderSettings:
    """Limits of the appender."""

    work_channel: int = 10_000
    """Commands of running work (completions, cancellations, …) that wait to be appended. Further ones wait up to the
    deadlines of their requests.
    """
    new_channel: int = 1_000
    """New commands of each partition that wait to be appended; beyond it 503, before the body is read. Under overload
    as many as are admitted in 0.4 of `appender.new_wait_s`, at least 64.
    """
    call_count: int = 500
    """Commands in one append."""
    call_bytes: int = 1_000_000
    """An append of this size takes no further command."""
    call_timeout_s: float = 5.0
    """Deadline of an append."""
    new_least: int = 32
    """Least size of the window: unprocessed new commands that may always be in the log. More if running work has more
    there.
    """
    new_most: int = 1_000
    """Largest size of the window. In between, it follows `appender.work_lag_s`."""
    new_wait_s: float = 1.0
    """A new command that is not admitted within this time gets 503."""
    work_lag_s: float = 0.025
    """The window shrinks when a command of running work waits longer than this, from the request to the engine."""
    lag_commands: int = 1_000
    """New commands get 503 when the engine is behind by more than this, and by more than it processes in
    `appender.lag_s`.
    """
    lag_s: float = 0.5
    """See `appender.lag_commands`."""
    backlog: int = 1_000_000
    """Without a leader, unprocessed commands up to which new ones are appended; beyond it 503."""
    forward_count: int = 500
    """Follow-ups that move from the inbox to the log at a time. The log holds as many as the engine processes in
    `appender.lag_s`, at least 50.
    """
    poll_s: float = 1.0
    """Interval in which the inbox is checked without a wake-up."""
    transaction_poll_s: float = 0.05
    """Interval in which commands of clients' own transactions are looked for, once there have been any."""
    outage_patience_s: float = 2.0
    """After this time without PostgreSQL, appends fail at once."""

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
