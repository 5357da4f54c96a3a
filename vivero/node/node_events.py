"""The events that the parts of a node tell each other and other nodes: appends, commits, jobs, timers, the clock.

A part subscribes to what it hears, when the node is built. No callback may wait: it hands over data or sets a wake-up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec

import structlog

from vivero.core.execution.outcomes import Ended
from vivero.engine.consumer.piggyback import PiggybackedStatement, Subject
from vivero.engine.timers.task import Changes
from vivero.storage.cluster.clock import CLOCK_CHANNEL as CLOCK
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres import announcer as announcing
from vivero.storage.postgres.announcer import Announcer

_Given = ParamSpec("_Given")

log = structlog.get_logger(__name__)

APPENDED, PROCESSED, AVAILABLE, INBOX = "vivero_appended", "vivero_processed", "vivero_available", "vivero_inbox"
"""The channels on which nodes announce numbers by key. The other channels tell that something has changed."""


class Event(list[Callable[_Given, object]]):
    """The callbacks of the parts that hear of an event, in the order of their subscriptions. A call tells all."""

    def __call__(self, *given: _Given.args, **named: _Given.kwargs) -> None:
        for callback in self:
            callback(*given, **named)


def _nothing(_available: Mapping[Subject, int]) -> Sequence[PiggybackedStatement]:
    return ()


class NodeEvents:
    """The events that the consumers, the API and the notification listener tell, and the parts hear."""

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
        self.reconnected: Event[[]] = Event()
        """Notifications may have been lost. Subscribers of channels hear of it, too."""
        self.piggybacked: Callable[[Mapping[Subject, int]], Sequence[PiggybackedStatement]] = _nothing
        """Gives the statements that lease jobs with the batch that creates them."""
        self._notified: dict[str, Event[str]] = defaultdict(Event)
        self._announced: dict[str, Event[str, int]] = defaultdict(Event)
        self.announced(PROCESSED, lambda key, position: self.progress(int(key), position))
        self.announced(AVAILABLE, self._available_elsewhere)
        self._unreadable = 0

    # -- subscriptions to channels

    @property
    def channels(self) -> Sequence[str]:
        """The channels of NOTIFY that somebody hears."""
        return (*self._announced, *self._notified)

    def announced(self, channel: str, callback: Callable[[str, int], object]) -> None:
        """Hear what nodes announce: key and value."""
        self._announced[channel].append(callback)

    def notified(self, channel: str, callback: Callable[[str], object]) -> None:
        """Hear the payloads of a channel. After each connection of the listener it is empty."""
        self._notified[channel].append(callback)

    def changed(self, callback: Callable[[], object], *channels: str) -> None:
        """Hear that what these channels stand for has changed, or may have changed unheard."""
        for channel in channels:
            self.notified(channel, lambda _payload: callback())

    # -- from the consumers and the API

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
        self.receive(CLOCK, "")

    # -- from the notification listener

    def receive(self, channel: str, payload: str) -> None:
        """Pass on a notification of another node."""
        if channel in self._announced:
            for key, value in self._decoded(payload).items():
                self._announced[channel](key, value)
        if channel in self._notified:
            self._notified[channel](payload)

    def connected(self, connected: bool) -> None:
        """After each connection of the notification listener, every part looks once: notifications may be lost."""
        if connected:
            for notified in self._notified.values():
                notified("")
            self.reconnected()

    def _available_elsewhere(self, key: str, count: int) -> None:
        tenant, _, type_ = key.partition("\n")
        self.jobs(type_, tenant, count)

    def _decoded(self, payload: str) -> Mapping[str, int]:
        """The announced numbers by key; none if the payload is unreadable, which is logged."""
        announced = announcing.decode(payload)
        if announced is None:
            self._unreadable += 1
            if self._unreadable.bit_count() == 1:  # 1, 2, 4, 8, …, because there may be thousands per second
                log.warning("cannot decode a notification", so_far=self._unreadable, size=len(payload))
        return announced or {}
