"""The events that the parts of a node tell each other and other nodes: appends, commits, jobs, timers, the clock.

A part subscribes to what it hears, when the node is built. No callback may wait: it hands over data or sets a wake-up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import structlog

from vivero.core.execution.outcomes import Ended
from vivero.engine.consumer.piggyback import PiggybackedStatement, Subject
from vivero.engine.timers.task import Changes
from vivero.storage.cluster.clock import CLOCK_CHANNEL as CLOCK
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres import announcer as announcing
from vivero.storage.postgres.announcer import Announcer

log = structlog.get_logger(__name__)

APPENDED, PROCESSED, AVAILABLE, INBOX = "vivero_appended", "vivero_processed", "vivero_available", "vivero_inbox"
"""The channels on which nodes announce numbers by key. The other channels tell that something has changed."""


def _nothing(_available: Mapping[Subject, int]) -> Sequence[PiggybackedStatement]:
    return ()


class NodeEvents:
    """The callbacks of the parts, by event. They are told in the order of these lists.

    A commit is told to `outcomes` first, because requests wait for them, then to `leading`, so that the next commands
    and timers come, and at last to `progress` and to other nodes, who only look sooner than they would by themselves.
    """

    def __init__(self, announcer: Announcer) -> None:
        self.announce = announcer.announce
        self.outcomes: list[Callable[[int, int, list[CommandOutcome], list[Ended]], None]] = []
        """A batch of this node was committed: partition, watermark, outcomes, ends."""
        self.leading: list[Callable[[int, int], None]] = []
        """A partition that this node leads is processed up to a position."""
        self.progress: list[Callable[[int, int], None]] = []
        """A partition is processed up to a position, here or at another node."""
        self.jobs: list[Callable[[str, str, int], None]] = []
        """Jobs became available, here or at another node: type, tenant, count."""
        self.inboxes: list[Callable[[int], None]] = []
        """A batch of this node has filled the inbox of a partition, which any node may lead."""
        self.timers: list[Callable[[int, Changes], None]] = []
        self.terms: list[Callable[[int, int], None]] = []
        """A term of this node has begun: partition, epoch."""
        self.reconnected: list[Callable[[], None]] = []
        """Notifications may have been lost. Subscribers of channels hear of it, too."""
        self.lease: Callable[[Mapping[Subject, int]], Sequence[PiggybackedStatement]] = _nothing
        """Gives the statements that lease jobs with the batch that creates them."""
        self._notified: dict[str, list[Callable[[str], None]]] = defaultdict(list)
        self._announced: dict[str, list[Callable[[str, int], object]]] = defaultdict(list)
        self.announced(PROCESSED, self._processed_elsewhere)
        self.announced(AVAILABLE, self._available_elsewhere)
        self._unreadable = 0

    # -- subscriptions

    @property
    def channels(self) -> Sequence[str]:
        """The channels of NOTIFY that somebody hears."""
        return (*self._announced, *self._notified)

    def announced(self, channel: str, callback: Callable[[str, int], object]) -> None:
        """Hear what nodes announce: key and value."""
        self._announced[channel].append(callback)

    def notified(self, channel: str, callback: Callable[[str], None]) -> None:
        """Hear the payloads of a channel. After each connection of the listener it is empty."""
        self._notified[channel].append(callback)

    def changed(self, callback: Callable[[], None], *channels: str) -> None:
        """Hear that what these channels stand for has changed, or may have changed unheard."""
        for channel in channels:
            self._notified[channel].append(lambda _payload: callback())

    # -- from the consumers

    def committed(self, partition: int, watermark: int, outcomes: list[CommandOutcome], ended: list[Ended]) -> None:
        for answer in self.outcomes:
            answer(partition, watermark, outcomes, ended)
        for go_on in self.leading:
            go_on(partition, watermark)
        for follow in self.progress:
            follow(partition, watermark)
        self.announce(PROCESSED, partition, watermark)

    def available(self, type: str, tenant: str, count: int) -> None:
        self._available(type, tenant, count)
        self.announce(AVAILABLE, f"{tenant}\n{type}", count)

    def piggybacked(self, available: Mapping[Subject, int]) -> Sequence[PiggybackedStatement]:
        return self.lease(available)

    def inbox_filled(self, partition: int) -> None:
        for take in self.inboxes:
            take(partition)

    def timers_changed(self, partition: int, changes: Changes) -> None:
        for note in self.timers:
            note(partition, changes)

    def leads(self, partition: int, epoch: int) -> None:
        for begin in self.terms:
            begin(partition, epoch)

    # -- from the API

    def clock_changed(self) -> None:
        self.receive(CLOCK, "")

    # -- from the notification listener

    def receive(self, channel: str, payload: str) -> None:
        """Pass on a notification of another node."""
        if channel in self._announced:
            self._tell_announced(channel, payload)
        for callback in self._notified.get(channel, ()):
            callback(payload)

    def connected(self, connected: bool) -> None:
        """After each connection of the notification listener, every part looks once: notifications may be lost."""
        if connected:
            for channel in self._notified:
                self.receive(channel, "")
            for reconnected in self.reconnected:
                reconnected()

    def _tell_announced(self, channel: str, payload: str) -> None:
        announced = announcing.decode(payload)
        if announced is None:
            self._count_unreadable(payload)
            return
        for key, value in announced.items():
            for callback in self._announced[channel]:
                callback(key, value)

    def _processed_elsewhere(self, key: str, position: int) -> None:
        for follow in self.progress:
            follow(int(key), position)

    def _available_elsewhere(self, key: str, count: int) -> None:
        tenant, _, type_ = key.partition("\n")
        self._available(type_, tenant, count)

    def _available(self, type: str, tenant: str, count: int) -> None:
        for callback in self.jobs:
            callback(type, tenant, count)

    def _count_unreadable(self, payload: str) -> None:
        self._unreadable += 1
        if self._unreadable.bit_count() == 1:  # 1, 2, 4, 8, …, because there may be thousands per second
            log.warning("cannot decode a notification", so_far=self._unreadable, size=len(payload))
