"""The shared state of all connections with TLS: settings, open connections, memory of clients."""

from __future__ import annotations

from collections.abc import Iterator

import trio

from vivero.api.http1.connection_capacity import PLAN_S, PLAN_SHARE, Candidate, Owners, take_in_turn
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
        self._plan: list[Candidate[Connection]] = []
        self._planned_at = 0.0

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
        """Whether another connection is possible. Closes a waiting connection if necessary."""
        return len(self.connections) < self.settings.max_connections or self.evict()

    def evict(self) -> bool:
        """Close the next connection in the order of `ConnectionCapacity`. False if all are busy."""
        now = trio.current_time()
        if now - self._planned_at > PLAN_S:
            self._plan.clear()
        for fresh in (False, True):
            if fresh:
                self._make_plan(now)
            while self._plan:
                if self._close(self._plan.pop(), now):
                    return True
        return False

    def _close(self, candidate: Candidate[Connection], now: float) -> bool:
        """Close a connection, unless it has ended or made progress since it was selected."""
        victim = candidate.connection
        if victim not in self.connections or _evictable(victim, now) != candidate.since:
            return False
        victim.close()
        self.connections.discard(victim)
        return True

    def _make_plan(self, now: float) -> None:
        self._planned_at = now
        groups: dict[tuple[bool, str], list[Candidate[Connection]]] = {}
        candidates = list(self._candidates(now))
        for candidate in candidates:
            owner = self.owners.of_address(candidate.connection.address, ())
            groups.setdefault((self.owners.trusts(owner), owner), []).append(candidate)
        self._plan = list(take_in_turn(groups.items(), max(1, len(candidates) // PLAN_SHARE)))[::-1]

    def _candidates(self, now: float) -> Iterator[Candidate[Connection]]:
        for number, connection in enumerate(self.connections):
            since = _evictable(connection, now)
            if since is not None:
                yield Candidate(_rank(connection), since, number, connection)

    def tick(self) -> None:
        """Close the connections whose handshake or header takes too long. Called a few times a second."""
        now = trio.current_time()
        for connection in [each for each in self.connections if each.is_late(now)]:
            connection.close()

    def close_unused(self) -> None:
        """End the connections that never had a request: hypercorn does not know them before the handshake."""
        for connection in [each for each in self.connections if not each.served]:
            connection.close()

    def close_all(self) -> None:
        """End all connections, even those with requests."""
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


def _evictable(connection: Connection, now: float) -> float | None:
    """The time since which a connection waits for its client; None if it must not be closed for another one."""
    since = connection.waits_since()
    return None if since is not None and connection.requests and now - since < SLOW_S else since


def _rank(connection: Connection) -> int:
    """Slow connections first, then those without any request so far, then idle ones."""
    if connection.requests:
        return 0
    return 2 if connection.served else 1
