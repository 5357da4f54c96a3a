"""The task that receives notifications (NOTIFY), and notices when it no longer does.

A half-open connection receives nothing and raises nothing. Therefore the listener notifies itself twice a second. If
its own echo fails to arrive, it closes the connection. Notifications are hints. Those between two connections are lost,
so `connected` tells the receivers to look into the database once.

All notification listeners ping on one channel, each with its own name. Each thus knows whether it is alone in its
database. A program that is alone announces nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Never

import structlog
import trio

from vivero.storage.postgres.driver import Connect, Connection
from vivero.storage.postgres.errors import ConnectionLost, DataPoison, describe
from vivero.storage.postgres.given_time import given_time
from vivero.storage.postgres.reconnect import Backoff, Beats, keep_connected
from vivero.storage.postgres.sql_files import statement
from vivero.storage.postgres.ticks import next_tick, tick_in

log = structlog.get_logger(__name__)

PING_CHANNEL = "vivero_ping"
_PING = statement("ping", "SELECT pg_notify($1, $2)", "In autocommit, like every NOTIFY.")

Deliver = Callable[[str, str], None]
"""Takes a channel and a payload; must not wait."""


@dataclass(frozen=True, slots=True)
class NotificationListenerSettings:
    """The intervals of the listener, in seconds."""

    ping_every_s: float = 0.5
    echo_within_s: float = 2.0
    turn_s: float = 0.25
    """The longest wait of a turn, which begins with a beat."""
    alone_after_s: float = 3.0
    """After this long without another's ping the listener is alone. A node that cannot ping for this long polls."""
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(slots=True)
class ListenSession:
    """One connection of the listener, from its LISTEN to its end."""

    connection: Connection
    name: str
    """The payload of its pings: unique in the server."""
    next_ping_at: float
    others_at: float
    """The time of another's last ping; at first the time of the LISTEN, because earlier pings went unheard."""
    unanswered_since: float | None = None


class NotificationListener:
    """Listens on `channels` and delivers the notifications.

    `deliver` gets each notification; `connected` gets True after each LISTEN and False when the connection is lost.
    """

    def __init__(
        self,
        connect: Connect,
        channels: Sequence[str],
        deliver: Deliver,
        connected: Callable[[bool], None],
        settings: NotificationListenerSettings | None = None,
    ) -> None:
        if wrong := [channel for channel in channels if not (channel.isascii() and channel.isidentifier())]:
            raise ValueError(f"{wrong[0]!r} is not a valid channel name: use ASCII letters, digits and underscores")
        self._connect = connect
        self._channels = tuple(channels)
        self._deliver = deliver
        self._connected = connected
        self._settings = settings or NotificationListenerSettings()
        self._session: ListenSession | None = None

    @property
    def alone(self) -> bool:
        """Whether it listens, and no other listener in this database has pinged for some seconds."""
        session = self._session
        return session is not None and trio.current_time() - session.others_at > self._settings.alone_after_s

    async def run(self, beats: Beats) -> Never:
        """Listens forever, on one connection after the other."""

        async def listen(connection: Connection) -> None:
            session = await self.open(connection, beats)
            try:
                while True:
                    await self.run_once(session, beats)
            finally:
                self._session = None
                self._connected(False)

        await keep_connected("listener", self._connect, listen, beats, self._settings.backoff)

    async def open(self, connection: Connection, beats: Beats) -> ListenSession:
        """Begins to listen on a connection."""
        with beats.waiting(self._settings.echo_within_s):
            deadline = trio.current_time() + self._settings.echo_within_s
            names = (*self._channels, PING_CHANNEL)
            await connection.script("; ".join(f'LISTEN "{name}"' for name in names), deadline=deadline)
        now = trio.current_time()
        self._session = ListenSession(connection, str(connection.backend_pid), now, now)
        self._connected(True)
        return self._session

    async def run_once(self, session: ListenSession, beats: Beats) -> None:
        """One turn: pings if it is time, delivers notifications, and checks the echo.

        Raises `ConnectionLost` if the echo is overdue.
        """
        beats.beat()
        if trio.current_time() >= session.next_ping_at:
            await self._ping(session, beats)
        wait_s = min(next_tick(self._settings.turn_s), session.next_ping_at) - trio.current_time()
        for notification in await session.connection.notifications(max(wait_s, 0)):
            if notification.channel == PING_CHANNEL:
                self._heard_ping(session, notification.payload)
            else:
                self._deliver(notification.channel, notification.payload)
        self._check_echo(session)

    def abort(self) -> None:
        """Closes the socket at once, from any task."""
        if self._session is not None:
            self._session.connection.abort()

    def _heard_ping(self, session: ListenSession, name: str) -> None:
        if name == session.name:
            session.unanswered_since = None
        else:
            session.others_at = trio.current_time()

    async def _ping(self, session: ListenSession, beats: Beats) -> None:
        now = trio.current_time()
        session.next_ping_at = tick_in(self._settings.ping_every_s)
        session.unanswered_since = session.unanswered_since or given_time()
        deadline = now + self._settings.echo_within_s
        try:
            with beats.waiting(self._settings.echo_within_s):
                await session.connection.execute(_PING, (PING_CHANNEL, session.name), deadline=deadline)
        except DataPoison as error:  # the server's queue is full; without an echo the connection ends soon
            log.warning("cannot ping", error=describe(error))

    def _check_echo(self, session: ListenSession) -> None:
        since, limit_s = session.unanswered_since, self._settings.echo_within_s
        if since is not None and given_time() - since > limit_s:
            session.connection.abort()
            raise ConnectionLost(f"the listener did not receive its own notification within {limit_s:g} s")
