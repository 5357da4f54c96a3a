"""The state that all connections of a server share: application, settings, counters, capacities and memory."""

from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from typing import Any

import trio

from vivero.api.http1.connection_capacity import ConnectionCapacity, Owners
from vivero.api.http1.figures import HttpFigures
from vivero.api.http1.known_heads import KnownHeads
from vivero.api.http1.memory import Memory
from vivero.api.http1.settings import ServerSettings
from vivero.storage.postgres.ticks import TICK_S, next_tick

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ServerState:
    """The state of one `serve()`.

    `capacity` has the connections, `reserve` those that arrive at its limit, which may make health checks only. One
    task checks the table of idle connections a few times a second, because a deadline for every request would cost a
    tenth of the server's throughput. `now` is Trio's time at the last check. Once `drain` is set, each answer closes
    its connection and says so.
    """

    __slots__ = (
        "app",
        "capacity",
        "date_line",
        "drain",
        "emptied",
        "figures",
        "in_flight",
        "known_heads",
        "memory",
        "now",
        "owners",
        "reserve",
        "settings",
    )

    def __init__(
        self, app: App, settings: ServerSettings, figures: HttpFigures | None = None, drain: trio.Event | None = None
    ) -> None:
        self.app = app
        self.settings = settings
        self.figures = HttpFigures() if figures is None else figures
        self.drain = trio.Event() if drain is None else drain
        self.emptied = trio.Event()
        self.in_flight = 0
        self.known_heads = KnownHeads()
        self.owners = owners = Owners(settings.trusted_proxies)
        self.capacity = ConnectionCapacity(settings.max_connections, owners)
        self.reserve = ConnectionCapacity(settings.reserved_connections, owners)
        self.memory = Memory(settings.memory_bytes, (self.capacity, self.reserve), owners)
        self.tick()

    @property
    def open(self) -> int:
        """The number of connections."""
        return self.capacity.open + self.reserve.open

    def tick(self) -> None:
        """Close connections that are idle too long, and format the Date header. Called a few times a second."""
        self.now = now = trio.current_time()
        for capacity in (self.capacity, self.reserve):
            for wire in [wire for wire, expiry in capacity.idle.items() if expiry <= now]:
                wire.close_idle()
        self.date_line = f"date: {formatdate(usegmt=True)}\r\n".encode()

    async def keep_ticking(self) -> None:
        """Call `tick` until cancelled."""
        while True:
            self.tick()
            await trio.sleep_until(next_tick(TICK_S))

    def start_draining(self) -> None:
        """Close the idle connections now. Others close after their current response, from the moment of `drain` on."""
        self.drain.set()
        for wire in (*self.capacity.idle, *self.reserve.idle):
            wire.close_idle()

    def connection_closed(self, capacity: ConnectionCapacity) -> None:
        """Count a closed connection. The last one sets `emptied`."""
        capacity.open -= 1
        self.figures.closed += 1
        if not self.open:
            self.emptied.set()
            self.emptied = trio.Event()
