"""Hints: which of the things that a page shows may have changed (`GET /console/live`).

A hint has no data. The page reads again what it shows, through the API. Therefore a client that reads slowly misses
nothing: however much changes, it gets one hint at a time. All streams share the positions of this hub; a stream has
no queue and no task of its own.

A stream begins with the event `ready`. It says how long nothing has changed, and the client reads again what it had
read before that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
import trio

from vivero.core.partitions.keys import partition_of

PACE_S = 0.25
"""The minimum time between two hints of a stream."""
HEARTBEAT_S = 15.0
"""A silent stream sends a comment after this time, so that proxies keep it open and the server notices lost clients."""
LIFETIME_S = 300.0
"""A stream ends after this time. The browser opens it again, and the server checks its session again."""
RETRY_MS = 2000
MAX_TOPICS = 50
MAX_TOPIC = 200

HEARTBEAT = b": \n\n"
BYE = b"event: bye\ndata: {}\n\n"


class TooManyStreams(Exception):
    """The node or the client has its maximum number of streams."""


class Hub:
    """The last processed positions that this node knows, and the streams that wait for changes."""

    def __init__(self, most: int, most_per_client: int) -> None:
        self._most = most
        self._most_per_client = most_per_client
        self._clients: Counter[str] = Counter()
        self._positions: dict[int, int] = {}
        self._moved_at: float | None = None
        self._changed = trio.Event()
        self._closed = trio.Event()

    @property
    def streams(self) -> int:
        """The number of open streams."""
        return self._clients.total()

    def processed(self, partition: int, position: int) -> None:
        """A partition has processed its log up to a position, here or on another node. Called for each batch."""
        if position > self._positions.get(partition, 0):
            self._positions[partition] = position
            self._moved_at = trio.current_time()
            self._wake()

    def close(self) -> None:
        """End all streams and open no more, because the server stops."""
        self._closed.set()
        self._wake()

    def _wake(self) -> None:
        if self._clients:
            self._changed.set()
            self._changed = trio.Event()

    def check(self, client: str) -> None:
        """Raise TooManyStreams if a client may not have another stream."""
        if self._closed.is_set() or self.streams >= self._most or self._clients[client] >= self._most_per_client:
            raise TooManyStreams

    @contextmanager
    def admitted(self, client: str) -> Iterator[None]:
        """Count a stream of a client for the block. Raises TooManyStreams."""
        self.check(client)
        self._clients[client] += 1
        try:
            yield
        finally:
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]

    async def hints(self, topics: Sequence[str], last_id: str = "") -> AsyncGenerator[bytes]:
        """The events of a stream for these topics, as bytes. `last_id` is that of the last hint before a new start."""
        until = trio.current_time() + LIFETIME_S
        seen = decode_id(last_id) or dict(self._positions)
        yield _ready(self._quiet_ms(), seen)
        while not self._closed.is_set() and trio.current_time() < until:
            changed, positions = self._changed, dict(self._positions)
            moved = {each for each in positions.keys() | seen if seen.get(each) != positions.get(each)}
            seen = positions
            if hinted := concerned(topics, moved):
                yield _hint(hinted, seen)
            if moved:
                await self._pause()
            elif not await self._heard(changed):
                yield HEARTBEAT
        if self._closed.is_set():
            yield BYE

    def _quiet_ms(self) -> int:
        """The time since a partition moved: 0 if none has since this node started, as others may have moved them."""
        return 0 if self._moved_at is None else int((trio.current_time() - self._moved_at) * 1000)

    async def _heard(self, changed: trio.Event) -> bool:
        """Wait for a change. Returns False if there is none for some time."""
        with trio.move_on_after(HEARTBEAT_S):
            await changed.wait()
            return True
        return False

    async def _pause(self) -> None:
        """Let changes accumulate, but not beyond the end."""
        with trio.move_on_after(PACE_S):
            await self._closed.wait()


def concerned(topics: Sequence[str], partitions: set[int]) -> list[str]:
    """The topics that may have changed with these partitions. `instance:…` belongs to the partition of its key."""
    return [topic for topic in topics if partitions and ((home := _home(topic)) is None or home in partitions)]


def _home(topic: str) -> int | None:
    kind, _, key = topic.partition(":")
    return partition_of(int(key)) if kind == "instance" and key.isascii() and key.isdigit() else None


def _ready(quiet_ms: int, positions: Mapping[int, int]) -> bytes:
    data = msgspec.json.encode({"quietMs": quiet_ms})
    return b"retry: %d\nevent: ready\nid: %b\ndata: %b\n\n" % (RETRY_MS, encode_id(positions), data)


def _hint(topics: Sequence[str], positions: Mapping[int, int]) -> bytes:
    return b"id: %b\ndata: %b\n\n" % (encode_id(positions), msgspec.json.encode({"topics": topics}))


def encode_id(positions: Mapping[int, int]) -> bytes:
    """The id of a hint: a position for each partition, as `1:40231,2:77`."""
    return ",".join(f"{partition}:{positions[partition]}" for partition in sorted(positions)).encode()


def decode_id(text: str) -> dict[int, int]:
    """The positions in an id; none of an unknown one."""
    pairs = [part.partition(":") for part in text[:10_000].split(",")]
    if not all(_is_number(partition) and _is_number(position) for partition, _, position in pairs):
        return {}
    return {int(partition): int(position) for partition, _, position in pairs}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 20
