"""The state that all connections with TLS share: settings, the open connections, the memory that clients occupy."""

from __future__ import annotations

from collections import Counter

import trio

from vivero.api.http1.connection_capacity import Owners
from vivero.api.http1.figures import HttpFigures
from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.state import App
from vivero.api.tls.connection import Connection

SLOW_S = 1.0
"""A connection that waits for its client for this time within a request may be closed in favour of another."""


class TlsState:
    """The state of one `serve()`."""

    def __init__(self, app: App, settings: ServerSettings, figures: HttpFigures) -> None:
        self.app = app
        self.settings = settings
        self.figures = figures
        self.owners = Owners(settings.trusted_proxies)
        self.connections: set[Connection] = set()
        self.emptied = trio.Event()
        self.held = 0

    @property
    def open(self) -> int:
        return len(self.connections)

    def opened(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.figures.accepted += 1

    def closed(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.figures.closed += 1
        if not self.connections:
            self.emptied.set()
            self.emptied = trio.Event()

    def has_place(self) -> bool:
        """True if there is a place for another connection. Closes a waiting one for it if necessary."""
        return len(self.connections) < self.settings.max_connections or self.evict()

    def evict(self) -> bool:
        """Close the connection that waits longest, of the address that has most waiting ones. False if all are busy."""
        waiting = [(since, each) for each in self.connections if (since := self._evictable(each)) is not None]
        if not waiting:
            return False
        counts = Counter(each.address for _, each in waiting)
        _, victim = min(waiting, key=lambda pair: (-counts[pair[1].address], pair[0]))
        victim.close()
        self.connections.discard(victim)
        return True

    def _evictable(self, connection: Connection) -> float | None:
        since = connection.waits_since()
        if since is None or (connection.requests and trio.current_time() - since < SLOW_S):
            return None
        return since

    def tick(self) -> None:
        """Close the connections whose handshake or header takes too long. Called a few times a second."""
        now = trio.current_time()
        for connection in [each for each in self.connections if each.is_late(now)]:
            connection.close()

    def close_unused(self) -> None:
        """End the connections that never had a request: hypercorn does not know them before their handshake."""
        for connection in [each for each in self.connections if not each.served]:
            connection.close()

    def close_all(self) -> None:
        """End all connections, whatever they do."""
        for connection in tuple(self.connections):
            connection.close()

    def take(self, size: int) -> bool:
        """Count bytes that a client occupies. False if there is no memory for them, unless nothing else is in use."""
        if self.held and self.held + size > self.settings.memory_bytes:
            return False
        self.held += size
        return True

    def give_back(self, size: int) -> None:
        self.held -= size
