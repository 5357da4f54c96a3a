"""What the connections of one server share: the application, the settings, counters, and who is idle."""

from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from typing import Any

import trio

from api.http1.settings import ServerSettings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Address = tuple[str, int]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ServerState:
    """One per `serve()`: what connections read and count.

    `idle` holds the cancel scopes of connections that wait for a request, longest idle first: draining and making room
    close those, because nothing is lost with them.
    """

    __slots__ = ("app", "date_line", "draining", "emptied", "idle", "in_flight", "open", "settings", "turned_away")

    def __init__(self, app: App, settings: ServerSettings) -> None:
        self.app = app
        self.settings = settings
        self.draining = False
        self.open = 0
        self.emptied = trio.Event()
        self.in_flight = 0
        self.turned_away = 0
        self.idle: dict[trio.CancelScope, None] = {}
        self.refresh_date()

    def refresh_date(self) -> None:
        """Format the Date header anew; called a few times a second instead of once a response."""
        self.date_line = f"date: {formatdate(usegmt=True)}\r\n".encode()

    def start_draining(self) -> None:
        """Close the idle connections now, and the others with their current response."""
        self.draining = True
        for scope in self.idle:
            scope.cancel()

    def evict_idle(self) -> bool:
        """Close the connection that has been idle longest, to make room; False if none is idle."""
        scope = next(iter(self.idle), None)
        if scope is None:
            return False
        del self.idle[scope]
        scope.cancel()
        return True

    def connection_closed(self) -> None:
        """Count down; whoever waits for the last connection hears of it."""
        self.open -= 1
        if not self.open:
            self.emptied.set()
            self.emptied = trio.Event()
