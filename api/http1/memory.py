"""One budget for what clients make the server hold: bodies that arrive, and answers that are not read.

Beyond it the address that holds most of it by being slow loses first. Where nobody is slow, bodies wait for a while
and are then refused. Bodies up to 64 KiB, and answers that the socket takes at once, are not counted: the number
of connections bounds them.
"""

import trio

from vivero.api.http1.connection_capacity import ConnectionCapacity, Owners
from vivero.api.http1.wire import Wire

SLOW_S = 1.0
"""A client that is slow for this long makes capacity for the body of another one."""


class Memory:
    """Bytes in use, of a limit. `wire.held` says how many of them are whose."""

    __slots__ = ("_capacities", "_freed", "_owners", "limit", "used")

    def __init__(self, limit: int, capacities: tuple[ConnectionCapacity, ...], owners: Owners) -> None:
        self.limit = limit
        self.used = 0
        self._capacities = capacities
        self._owners = owners
        self._freed = trio.Event()

    async def take(self, wire: Wire, size: int, patience_s: float) -> bool:
        """Count bytes of a body for `wire`, waiting for capacity if need be; False if there was none in time."""
        with trio.move_on_after(patience_s):
            while not self._evict_until_free(size, trio.current_time() - SLOW_S):
                with trio.move_on_after(SLOW_S):  # who stalls now is slow by then, and nobody tells
                    await self._freed.wait()
            self._count(wire, size)
            return True
        return False

    def take_nowait(self, wire: Wire, size: int) -> bool:
        """Count bytes of an answer, which are there already; False if they must go."""
        if not self._evict_until_free(size, trio.current_time()):
            return False
        self._count(wire, size)
        return True

    def give_back(self, wire: Wire, size: int) -> None:
        """`wire` holds that much less."""
        if size:
            wire.held -= size
            self.used -= size
            self._freed.set()
            self._freed = trio.Event()

    def _count(self, wire: Wire, size: int) -> None:
        wire.held += size
        self.used += size

    def _evict_until_free(self, size: int, slow_since: float) -> bool:
        size = min(size, self.limit)  # one that is larger than all fits when there is nothing else
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
        """Of the address that holds most in slow connections, the one that is slow for longest."""
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
