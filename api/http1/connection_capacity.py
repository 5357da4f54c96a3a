"""ConnectionCapacity for connections: how many there may be, and which one is closed for the sake of a new one.

Only when the capacity is full somebody loses: the address that holds most connections which wait for their client, slow
ones (in a header, a body, or reading an answer) and idle ones together. Of one address the slow ones go first, longest
first, then idle ones that have never asked for anything, then the longest idle. Connections whose request is being
handled are never closed for others.
"""

import heapq
from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple

from vivero.api.http1.settings import networks
from vivero.api.http1.socket_stream import SocketStream
from vivero.api.http1.wire import Wire

PLAN_SHARE = 8
"""One look through all connections chooses 1 of 8 of them: a look at each eviction would cost more than it saves."""
PLAN_S = 1.0
"""Who holds most is looked at anew after this time."""

_LINGERING, _SLOW, _UNUSED, _IDLE = range(4)


class Owners:
    """Whom a connection counts for: its address (of IPv6 its /64), or the one that a trusted proxy names."""

    def __init__(self, trusted_proxies: str) -> None:
        self._networks = networks(trusted_proxies)

    def of(self, wire: Wire) -> str:
        return self.of_request(wire, () if wire.slow_request is None else wire.slow_request.headers)

    def of_request(self, wire: Wire, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The same, for a request with these headers."""
        address = _address(wire)
        if self._networks and self.trusts(address):
            for name, value in reversed(list(headers)):
                if name == b"x-forwarded-for":
                    address = self._forwarded(value.decode("latin-1"), address)
                    break
        return address if self.trusts(address) else _group(address)

    def trusts(self, address: str) -> bool:
        """Whether this is the address of a proxy, whose own connections are the last to be closed."""
        if not self._networks:
            return False
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def _forwarded(self, value: str, address: str) -> str:
        """The last address of a list that is not a trusted proxy's: those before it are the client's own claims."""
        for part in reversed(value.split(",")):
            address = _plain(part)
            if not self.trusts(address):
                break
        return address


class _Seat(NamedTuple):
    rank: int
    since: float
    number: int
    wire: Wire


class ConnectionCapacity:
    """Connections that share a limit.

    `open` counts them; the server counts up when it admits one. `idle` has those that wait for a request, with the time
    when that is too long; `slow` those that wait for their client in the middle of one, with the time since when.
    """

    __slots__ = ("_owners", "_plan", "_planned_at", "idle", "limit", "open", "slow")

    def __init__(self, limit: int, owners: Owners) -> None:
        self.limit = limit
        self.open = 0
        self.idle: dict[Wire, float] = {}
        self.slow: dict[Wire, float] = {}
        self._owners = owners
        self._plan: list[_Seat] = []
        self._planned_at = 0.0

    def has_place(self, now: float) -> bool:
        """Whether another connection may come in, perhaps because one was closed for it."""
        return self.open < self.limit or self.evict(now)

    def evict(self, now: float) -> bool:
        """Close the connection that is the next to lose its place; False if all are busy."""
        if now - self._planned_at > PLAN_S:
            self._plan.clear()
        for fresh in (False, True):
            if fresh:
                self._make_plan(now)
            while self._plan:
                if self._close(self._plan.pop()):
                    return True
        return False

    def _close(self, seat: _Seat) -> bool:
        """Close it, unless it has gone on since it was chosen."""
        wire = seat.wire
        if seat.rank <= _SLOW:
            if self.slow.get(wire) != seat.since:
                return False
            del self.slow[wire]
            wire.evict()
            return True
        if self.idle.get(wire) != seat.since or not wire.close_idle():
            return False
        del self.idle[wire]
        return True

    def _make_plan(self, now: float) -> None:
        self._planned_at = now
        groups: dict[tuple[bool, str], list[_Seat]] = {}
        for seat in self._seats():
            owner = self._owners.of(seat.wire)
            groups.setdefault((self._owners.trusts(owner), owner), []).append(seat)
        size = max(1, (len(self.idle) + len(self.slow)) // PLAN_SHARE)
        self._plan = list(_take(groups.items(), size))[::-1]

    def _seats(self) -> Iterator[_Seat]:
        number = 0
        for wire, since in self.slow.items():
            number += 1
            yield _Seat(_LINGERING if wire.lingering else _SLOW, since, number, wire)
        for wire, since in self.idle.items():
            number += 1
            yield _Seat(_IDLE if wire.used else _UNUSED, since, number, wire)


def _take(groups: Iterable[tuple[tuple[bool, str], list[_Seat]]], size: int) -> Iterator[_Seat]:
    """The first to lose, in turn: each time of the group that has most left, the trusted ones after all others."""
    heap = []
    for (trusted, _), seats in groups:
        seats.sort(reverse=True)
        heap.append((trusted, -len(seats), seats[-1], seats))
    heapq.heapify(heap)
    for _ in range(size):
        if not heap:
            return
        trusted, _count, seat, seats = heap[0]
        seats.pop()
        yield seat
        if seats:
            heapq.heapreplace(heap, (trusted, -len(seats), seats[-1], seats))
        else:
            heapq.heappop(heap)


def _address(wire: Wire) -> str:
    client = wire.stream.client if isinstance(wire.stream, SocketStream) else None
    return "" if client is None else _plain(client[0])


def _plain(text: str) -> str:
    """The address in what a proxy or the system writes: without a port, brackets and a zone, and of IPv4 as such."""
    address = text.strip()
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    address = address.partition("%")[0]
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)


def _group(address: str) -> str:
    if ":" not in address:
        return address
    try:
        return str(ip_network(f"{address}/64", strict=False).network_address)
    except ValueError:
        return address
