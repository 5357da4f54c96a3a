"""One budget for the memory that clients occupy: bodies that arrive, and answers that are not read.

Beyond the budget, the server closes a slow connection of the address that holds the most memory in slow connections. If
no connection is slow, bodies wait for a while and are then refused. Bodies up to 64 KiB and answers that the socket
takes at once are not counted, because the number of connections bounds them.
"""

import trio

from vivero.api.http1.connection_capacity import ConnectionCapacity, Owners
from vivero.api.http1.wire import Wire

SLOW_S = 1.0
"""A connection that is slow for this time may be closed in favour of another body."""


class Memory:
    """A limit of bytes and those in use. `wire.held` counts those of one connection."""

    __slots__ = ("_capacities", "_freed", "_owners", "limit", "used")

    def __init__(self, limit: int, capacities: tuple[ConnectionCapacity, ...], owners: Owners) -> None:
        self.limit = limit
        self.used = 0
        self._capacities = capacities
        self._owners = owners
        self._freed = trio.Event()

    async def take(self, wire: Wire, size: int, patience_s: float) -> bool:
        """Count bytes of a body for `wire`, if necessary after a wait. False if they did not become free in time."""
        with trio.move_on_after(patience_s):
            while not self._evict_until_free(size, trio.current_time() - SLOW_S):
                with trio.move_on_after(SLOW_S):  # a client that stalls now is slow then, without a notification
                    await self._freed.wait()
            self._count(wire, size)
            return True
        return False

    def take_nowait(self, wire: Wire, size: int) -> bool:
        """Count bytes of an answer that exists already. False if there is no memory for them."""
        if not self._evict_until_free(size, trio.current_time()):
            return False
        self._count(wire, size)
        return True

    def give_back(self, wire: Wire, size: int) -> None:
        """Return bytes of `wire`."""
        if size:
            wire.held -= size
            self.used -= size
            self._freed.set()
            self._freed = trio.Event()

    def _count(self, wire: Wire, size: int) -> None:
        wire.held += size
        self.used += size

    def _evict_until_free(self, size: int, slow_since: float) -> bool:
        size = min(size, self.limit)  # a larger body fits when nothing else is in use
        while self.used + size > self.limit:
            victim = self._heaviest(slow_since)
            if victim is None:
                return False
            wire, capacity = victim
            del capacity.slow[wire]
            self.give_back(wire, wire.held)
            wire.evict()
        return True

    def _heaviest(self, slow_since: float) -> tuple[Wire, ConnectionCapacity] | None:
        """The longest slow connection of the address that holds the most memory in slow connections."""
        held: dict[str, int] = {}
        longest: dict[str, tuple[float, Wire, ConnectionCapacity]] = {}
        for capacity in self._capacities:
            for wire, since in capacity.slow.items():
                if wire.held and since <= slow_since:
                    owner = self._owners.of(wire)
                    held[owner] = held.get(owner, 0) + wire.held
                    if owner not in longest or since < longest[owner][0]:
                        longest[owner] = (since, wire, capacity)
        if not held:
            return None
        _, wire, capacity = longest[max(held, key=held.__getitem__)]
        return wire, capacity
