"""What the connections of one server share: the application, the settings, counters, and who is idle."""

from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from typing import Any

import trio

from api.http1.settings import ServerSettings
from api.http1.wire import Wire

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
TICK_S = 0.25

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ServerState:
    """One per `serve()`: what connections read and count.

    `idle` holds the connections that wait for a request, longest idle first, with the time when that is too long: they
    can be closed without loss. A table that one task looks through a few times a second, instead of a
    deadline for each wait, because arming a deadline for every request costs a tenth of the server's throughput.
    `now` is Trio's time at the last look.
    """

    __slots__ = (
        "app",
        "date_line",
        "draining",
        "emptied",
        "idle",
        "in_flight",
        "now",
        "open",
        "settings",
        "turned_away",
    )

    def __init__(self, app: App, settings: ServerSettings) -> None:
        self.app = app
        self.settings = settings
        self.draining = False
        self.open = 0
        self.emptied = trio.Event()
        self.in_flight = 0
        self.turned_away = 0
        self.idle: dict[Wire, float] = {}
        self.tick()

    def tick(self) -> None:
        """Close what has been idle too long and format the Date header anew: a few times a second, not per request."""
        self.now = now = trio.current_time()
        for wire in [wire for wire, expiry in self.idle.items() if expiry <= now]:
            wire.close_idle()
        self.date_line = f"date: {formatdate(usegmt=True)}\r\n".encode()

    async def keep_ticking(self) -> None:
        """The task without which nobody is ever idle too long."""
        while True:
            self.tick()
            await trio.sleep(TICK_S)

    def start_draining(self) -> None:
        """Close the idle connections now, and the others with their current response."""
        self.draining = True
        for wire in self.idle:
            wire.close_idle()

    def evict_idle(self) -> bool:
        """Close the connection that has been idle longest, to make room; False if none is idle."""
        for wire in self.idle:
            if wire.close_idle():
                del self.idle[wire]
                return True
        return False

    def connection_closed(self) -> None:
        """Count down; whoever waits for the last connection hears of it."""
        self.open -= 1
        if not self.open:
            self.emptied.set()
            self.emptied = trio.Event()
