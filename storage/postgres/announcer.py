"""The sending side of NOTIFY: tells other nodes where to look, rarely and in autocommit.

A NOTIFY holds a database-wide lock until its transaction has committed and flushed. Appends and batches therefore send
none. The announcer collects announcements after the commit and sends them in one statement, at most every 2 ms, with
only the highest value of each key. Polling makes up for a lost announcement.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Never

import msgspec
import structlog
import trio

from vivero.storage.postgres.driver import Connect, Connection
from vivero.storage.postgres.errors import DataPoison, describe
from vivero.storage.postgres.reconnect import Backoff, Beats, keep_connected
from vivero.storage.postgres.sql_files import statement

log = structlog.get_logger(__name__)

GAP_S = 0.002
SEND_TIMEOUT_S = 2.0
IDLE_S = 0.2
"""The longest wait without a beat."""

PENDING_KEYS = 10_000
"""Keys that may wait to be announced. Further ones are dropped and left to polling."""

PAYLOAD_BYTES = 7_900
"""PostgreSQL's limit is 7,999."""

_NOTIFY = statement(
    "announce",
    "SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS announcement(channel, payload)",
    "One statement for all channels, because each commit with a NOTIFY takes the lock again.",
)
_values_decoder = msgspec.json.Decoder(dict[str, int])
_partitions_decoder = msgspec.json.Decoder(dict[int, int])


class Announcer:
    """Collects (channel, key, value); announces the highest value of each key."""

    def __init__(
        self,
        connect: Connect,
        *,
        needed: Callable[[], bool] = lambda: True,
        gap_s: float = GAP_S,
        backoff: Backoff | None = None,
    ) -> None:
        """`needed()`: whether another node may be listening."""
        self._needed = needed
        self._connect = connect
        self._gap_s = gap_s
        self._backoff = backoff or Backoff()
        self._pending: dict[tuple[str, str], int] = {}
        self._wake = trio.Event()
        self._not_before = 0.0
        self._connection: Connection | None = None
        self.sent = 0
        """Statements sent."""
        self.dropped = 0
        """Announcements dropped."""

    def announce(self, channel: str, key: str | int, value: int) -> None:
        """Queues an announcement. Never waits, never fails. A number as a key becomes text if anybody listens."""
        if not self._needed():
            return
        place = (channel, str(key))
        if len(self._pending) >= PENDING_KEYS and place not in self._pending:
            self.dropped += 1
            return
        self._pending[place] = max(value, self._pending.get(place, value))
        self._wake.set()

    async def run(self, beats: Beats) -> Never:
        """Announces forever, on one connection after the other."""

        async def send(connection: Connection) -> None:
            self._connection = connection
            try:
                while True:
                    await self.run_once(connection, beats)
            finally:
                self._connection = None

        await keep_connected("announcer", self._connect, send, beats, self._backoff)

    async def run_once(self, connection: Connection, beats: Beats) -> bool:
        """Waits a moment for announcements and sends them; False if there was none.

        Announcements that could not be sent wait for the next connection.
        """
        beats.beat()
        with trio.move_on_after(IDLE_S):
            await self._wake.wait()
        if not self._pending:
            return False
        await trio.sleep_until(self._not_before)
        pending, self._pending, self._wake = self._pending, {}, trio.Event()
        try:
            await self._send(connection, pending, beats)
        except BaseException:
            for (channel, key), value in pending.items():
                self.announce(channel, key, value)
            raise
        self._not_before = trio.current_time() + self._gap_s
        return True

    def abort(self) -> None:
        """Closes the socket at once, from any task."""
        if self._connection is not None:
            self._connection.abort()

    async def _send(self, connection: Connection, pending: Mapping[tuple[str, str], int], beats: Beats) -> None:
        payloads = list(encode(pending))
        self.dropped += len(pending) - sum(count for _, _, count in payloads)
        arguments = ([channel for channel, _, _ in payloads], [payload for _, payload, _ in payloads])
        try:
            with beats.waiting(SEND_TIMEOUT_S):
                await connection.execute(_NOTIFY, arguments, deadline=trio.current_time() + SEND_TIMEOUT_S)
        except DataPoison as error:  # the server's queue is full, because another session does not read
            self.dropped += len(pending)
            log.warning("announcements dropped", count=len(pending), error=describe(error))
        else:
            self.sent += 1


def encode(pending: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, str, int]]:
    """(channel, payload, number of values in it); each payload is a JSON object short enough for a NOTIFY.

    It omits a key that is too long for one payload.
    """
    by_channel: dict[str, list[str]] = {}
    for (channel, key), value in pending.items():
        entry = f"{msgspec.json.encode(key).decode()}:{value}"
        if len(entry.encode()) <= PAYLOAD_BYTES - 2:
            by_channel.setdefault(channel, []).append(entry)
    for channel, entries in by_channel.items():
        for chunk in _chunks(entries):
            yield channel, "{" + ",".join(chunk) + "}", len(chunk)


def _chunks(entries: list[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 2
    for entry in entries:
        length = len(entry.encode()) + 1
        if chunk and size + length > PAYLOAD_BYTES:
            yield chunk
            chunk, size = [], 2
        chunk.append(entry)
        size += length
    if chunk:
        yield chunk


def decode(payload: str) -> dict[str, int] | None:
    """The values of an announcement by key; None if the payload is not an announcement."""
    try:
        return _values_decoder.decode(payload)
    except msgspec.DecodeError:
        return None


def decode_of_partitions(payload: str) -> dict[int, int] | None:
    """The values of an announcement by partition; None if the payload is not an announcement of partitions."""
    try:
        return _partitions_decoder.decode(payload)
    except msgspec.DecodeError:
        return None
