"""The channels of NOTIFY that the parts of a node hear, and what they do with the notifications of other nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

import structlog

from vivero.storage.postgres import announcer

_Given = ParamSpec("_Given")
_Key = TypeVar("_Key", str, int)

log = structlog.get_logger(__name__)


class Event(list[Callable[_Given, object]]):
    """The callbacks of the parts that hear of an event, in the order of their subscriptions. A call tells all."""

    def __call__(self, *given: _Given.args, **named: _Given.kwargs) -> None:
        for callback in self:
            callback(*given, **named)


class Channels:
    """The subscriptions of the parts to channels. The notification listener tells, the parts hear."""

    def __init__(self) -> None:
        self.reconnected: Event[[]] = Event()
        """Notifications may have been lost. Subscribers with `notified` or `changed` hear of it, too."""
        self._notified: dict[str, Event[str]] = defaultdict(Event)
        self._announced: dict[str, Event[str, int]] = defaultdict(Event)
        self._of_partitions: dict[str, Event[int, int]] = defaultdict(Event)
        self._unreadable = 0

    @property
    def names(self) -> Sequence[str]:
        """The channels that somebody hears."""
        return (*self._announced, *self._of_partitions, *self._notified)

    def announced(self, channel: str, callback: Callable[[str, int], object]) -> None:
        """Hear what nodes announce: key and value."""
        self._announced[channel].append(callback)

    def announced_of_partitions(self, channel: str, callback: Callable[[int, int], object]) -> None:
        """Hear what nodes announce of partitions: partition and value."""
        self._of_partitions[channel].append(callback)

    def notified(self, channel: str, callback: Callable[[str], object]) -> None:
        """Hear the payloads of a channel. After each connection of the listener it is empty."""
        self._notified[channel].append(callback)

    def changed(self, callback: Callable[[], object], *channels: str) -> None:
        """Hear that what these channels stand for has changed, or may have changed unheard."""
        for channel in channels:
            self.notified(channel, lambda _payload: callback())

    def receive(self, channel: str, payload: str) -> None:
        """Pass on a notification."""
        if channel in self._announced:
            for key, value in self._readable(announcer.decode(payload), payload).items():
                self._announced[channel](key, value)
        if channel in self._of_partitions:
            for partition, value in self._readable(announcer.decode_of_partitions(payload), payload).items():
                self._of_partitions[channel](partition, value)
        if channel in self._notified:
            self._notified[channel](payload)

    def connected(self, connected: bool) -> None:
        """After each connection of the notification listener, every part looks once: notifications may be lost."""
        if connected:
            for notified in self._notified.values():
                notified("")
            self.reconnected()

    def _readable(self, announced: Mapping[_Key, int] | None, payload: str) -> Mapping[_Key, int]:
        """The announced numbers by key; none if the payload is unreadable, which is logged."""
        if announced is None:
            self._unreadable += 1
            if self._unreadable.bit_count() == 1:  # 1, 2, 4, 8, …, because there may be thousands per second
                log.warning("cannot decode a notification", so_far=self._unreadable, size=len(payload))
        return announced or {}
