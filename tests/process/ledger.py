"""The answers to a load, so that an audit can compare them with the database."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass
class Ledger:
    """The requests and their answers."""

    started: dict = field(default_factory=dict)
    """Number → key, of each acknowledged creation."""
    replayed: Counter = field(default_factory=Counter)
    """Number → how often it was answered, of creations with an Idempotency-Key."""
    certainly_not: set = field(default_factory=set)
    """Numbers of creations that were refused for sure, or never sent."""
    unknown: set = field(default_factory=set)
    """Numbers of creations without an answer."""
    awaited: dict = field(default_factory=dict)
    """Number → variables, of each creation that was answered with the end of its instance."""
    completed: Counter = field(default_factory=Counter)
    """Job → how often its completion was acknowledged."""
    canceled: set = field(default_factory=set)
    """Numbers of instances whose cancellation was acknowledged, or asked for without an answer."""
    told: set = field(default_factory=set)
    """Numbers whose message was published for sure."""
    statuses: Counter = field(default_factory=Counter)
    open: dict = field(default_factory=dict)
    """Commands that were sent and not answered yet: what they ask for, by their numbers."""
    seconds: dict = field(default_factory=lambda: defaultdict(list))
    """Port → how long each answered creation took that did not await the end."""
    unanswered: set = field(default_factory=set)
    """Numbers of commands that were sent, and whose connection ended without an answer."""
    moments: list = field(default_factory=list)
    """When each command was answered, on Trio's clock."""

    @property
    def in_flight(self):
        """The number of commands on their way."""
        return len(self.open)

    def __str__(self) -> str:
        return (
            f"{len(self.started)} acknowledged, {len(self.unknown)} unknown, {len(self.certainly_not)} refused, "
            f"{len(self.completed)} jobs completed, {len(self.canceled)} canceled, "
            f"{len(self.told)} messages, answers {dict(self.statuses)}"
        )
