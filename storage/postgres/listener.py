"""The task that hears NOTIFY, and knows when it no longer does.

A half-open connection hears nothing and raises nothing. So the listener notifies itself twice a second, and takes its
connection for broken when its own echo fails to come. Notifications are hints: whoever is told of a new connection
looks into the database once, for what was said in between is lost.

All listeners ping on one channel, each by its name: so each knows whether it is alone in its database, and a program
that is need not announce anything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Never

import structlog
import trio

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import ConnectionLost, DataPoison
from vivero.storage.postgres.reconnect import Backoff, Beats, Connect, keep_connected
from vivero.storage.postgres.sql_files import statement

log = structlog.get_logger(__name__)

PING_CHANNEL = "vivero_ping"
_PING = statement("ping", "SELECT pg_notify($1, $2)", "In autocommit, like every NOTIFY.")

Deliver = Callable[[str, str], None]
"""Takes a channel and a payload; must not wait."""


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """Seconds."""

    ping_every_s: float = 0.5
    echo_within_s: float = 2.0
    turn_s: float = 0.2
    """The longest a turn waits, so that there is a sign of life in between."""
    alone_after_s: float = 3.0
    """So long nobody else must have been heard. Who could not ping for so long misses what is said, and polls."""
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(slots=True)
class Session:
    """One connection of the listener, from its LISTEN to its end."""

    connection: Connection
    name: str
    """What its pings say: unique in the server."""
    next_ping_at: float
    others_at: float
    """When somebody else was heard last, or may have been before this session could hear."""
    unanswered_since: float | None = None


class Listener:
    """Hears `channels` and hands on what comes.

    `deliver` gets each notification, `connected` gets True after each LISTEN and False when the connection is lost.
    """

    def __init__(
        self,
        connect: Connect,
        channels: Sequence[str],
        deliver: Deliver,
        connected: Callable[[bool], None],
        settings: ListenerSettings | None = None,
    ) -> None:
        if wrong := [channel for channel in channels if not (channel.isascii() and channel.isidentifier())]:
            raise ValueError(f"{wrong[0]!r} is no name for a channel")
        self._connect = connect
        self._channels = tuple(channels)
        self._deliver = deliver
        self._connected = connected
        self._settings = settings or ListenerSettings()
        self._session: Session | None = None

    @property
    def alone(self) -> bool:
        """Whether it listens, and nobody else has been heard in this database for some seconds."""
        session = self._session
        return session is not None and trio.current_time() - session.others_at > self._settings.alone_after_s

    async def run(self, beats: Beats) -> Never:
        """Listens for ever, on one connection after the other."""

        async def listen(connection: Connection) -> None:
            session = await self.open(connection, beats)
            try:
                while True:
                    await self.run_once(session, beats)
            finally:
                self._session = None
                self._connected(False)

        await keep_connected("listener", self._connect, listen, beats, self._settings.backoff)

    async def open(self, connection: Connection, beats: Beats) -> Session:
        """Begins to listen on a connection."""
        with beats.waiting(self._settings.echo_within_s):
            deadline = trio.current_time() + self._settings.echo_within_s
            names = (*self._channels, PING_CHANNEL)
            await connection.script("; ".join(f'LISTEN "{name}"' for name in names), deadline=deadline)
        now = trio.current_time()
        self._session = Session(connection, str(connection.backend_pid), now, now)
        self._connected(True)
        return self._session

    async def run_once(self, session: Session, beats: Beats) -> None:
        """One turn: a ping if it is time, what has arrived, and whether the echo is overdue.

        Raises `ConnectionLost`.
        """
        beats.beat()
        if trio.current_time() >= session.next_ping_at:
            await self._ping(session, beats)
        wait_s = min(self._settings.turn_s, session.next_ping_at - trio.current_time())
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

    def _heard_ping(self, session: Session, name: str) -> None:
        if name == session.name:
            session.unanswered_since = None
        else:
            session.others_at = trio.current_time()

    async def _ping(self, session: Session, beats: Beats) -> None:
        now = trio.current_time()
        session.next_ping_at = now + self._settings.ping_every_s
        session.unanswered_since = session.unanswered_since or now
        deadline = now + self._settings.echo_within_s
        try:
            with beats.waiting(self._settings.echo_within_s):
                await session.connection.execute(_PING, (PING_CHANNEL, session.name), deadline=deadline)
        except DataPoison as error:  # the server's queue is full; without an echo the connection is given up soon
            log.warning("cannot ping", error=str(error))

    def _check_echo(self, session: Session) -> None:
        since, limit_s = session.unanswered_since, self._settings.echo_within_s
        if since is not None and trio.current_time() - since > limit_s:
            session.connection.abort()
            raise ConnectionLost(f"the listener did not hear its own notification within {limit_s:g} s")
