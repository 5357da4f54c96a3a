"""The events that the parts of a node tell each other and other nodes: appends, commits, jobs, timers, the clock.

A part subscribes to what it hears, when the node is built. No callback may wait: it hands over data or sets a wake-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vivero.core.execution.outcomes import Ended
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs
from vivero.engine.timers.task import Changes
from vivero.node.channels import Channels, Event
from vivero.storage.cluster.clock import CLOCK_CHANNEL as CLOCK
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres.announcer import Announcer

APPENDED, PROCESSED, AVAILABLE, INBOX = "vivero_appended", "vivero_processed", "vivero_available", "vivero_inbox"
"""The channels on which nodes announce numbers by key. The other channels tell that something has changed."""


def _nothing(_jobs: NewJobs, _now_ms: int) -> Sequence[NewJobLeases]:
    return ()


class NodeEvents:
    """The events that the consumers, the API and other nodes tell, and the parts hear."""

    def __init__(self, announcer: Announcer) -> None:
        self.announce = announcer.announce
        self.outcomes: Event[int, int, list[CommandOutcome], list[Ended]] = Event()
        """A batch of this node was committed: partition, watermark, outcomes, ends."""
        self.leading: Event[int, int] = Event()
        """A partition that this node leads is processed up to a position."""
        self.progress: Event[int, int] = Event()
        """A partition is processed up to a position, here or at another node."""
        self.jobs: Event[str, str, int] = Event()
        """Jobs became available, here or at another node: type, tenant, count."""
        self.inbox_filled: Event[int] = Event()
        """A batch of this node has filled the inbox of a partition, which any node may lead."""
        self.timers_changed: Event[int, Changes] = Event()
        self.leads: Event[int, int] = Event()
        """A term of this node has begun: partition, epoch."""
        self.lease_new: Callable[[NewJobs, int], Sequence[NewJobLeases]] = _nothing
        """Leases jobs with the batch that creates them."""
        self.channels = Channels()
        self.channels.announced_of_partitions(PROCESSED, lambda partition, position: self.progress(partition, position))
        self.channels.announced(AVAILABLE, self._available_elsewhere)

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        """Requests wait for outcomes, so these come first, and then the next commands. Others look later anyway."""
        self.outcomes(partition, watermark, outcomes, ended)
        self.leading(partition, watermark)
        self.progress(partition, watermark)
        self.announce(PROCESSED, partition, watermark)

    def available(self, type: str, tenant: str, count: int) -> None:
        self.jobs(type, tenant, count)
        self.announce(AVAILABLE, f"{tenant}\n{type}", count)

    def clock_changed(self) -> None:
        self.channels.receive(CLOCK, "")

    def _available_elsewhere(self, key: str, count: int) -> None:
        tenant, _, type_ = key.partition("\n")
        self.jobs(type_, tenant, count)
