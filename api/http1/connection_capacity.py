"""The limit of connections, and the choice of the connection that is closed in favour of a new one.

At the limit, the server closes a connection of the address that holds the most connections that wait for their client.
These are slow connections (in a header, a body, or reading an answer) and idle ones. Of one address, the longest slow
connection is closed first, then idle ones without any request so far, then the longest idle. A connection whose request
is being handled is never closed for another one.
"""

import heapq
from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Generic, NamedTuple, TypeVar

from vivero.api.http1.settings import networks
from vivero.api.http1.socket_stream import SocketStream
from vivero.api.http1.wire import Wire

PLAN_SHARE = 8
"""One pass over all connections selects an eighth of them, because a pass for each eviction would be expensive."""
PLAN_S = 1.0
"""The selection is repeated after this time."""

_LINGERING, _SLOW, _UNUSED, _IDLE = range(4)


class Owners:
    """The owners of connections: the client's address (for IPv6 its /64), or the one that a trusted proxy names."""

    def __init__(self, trusted_proxies: str) -> None:
        self._networks = networks(trusted_proxies)

    def of(self, wire: Wire) -> str:
        return self.of_request(wire, () if wire.slow_request is None else wire.slow_request.headers)

    def of_request(self, wire: Wire, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The owner of a request with these headers."""
        return self.of_address(_address(wire), headers)

    def of_address(self, address: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The owner of a request with these headers that came from an address."""
        address = _plain(address)
        if self._networks and self.trusts(address):
            for name, value in reversed(list(headers)):
                if name == b"x-forwarded-for":
                    address = self._forwarded(value.decode("latin-1"), address)
                    break
        return address if self.trusts(address) else _group(address)

    def trusts(self, address: str) -> bool:
        """True for the address of a trusted proxy, whose own connections are closed last."""
        if not self._networks:
            return False
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def _forwarded(self, value: str, address: str) -> str:
        """The last address of a list that is not a trusted proxy's. The client may have invented those before it."""
        for part in reversed(value.split(",")):
            address = _plain(part)
            if not self.trusts(address):
                break
        return address


T = TypeVar("T")


class Candidate(NamedTuple, Generic[T]):
    """A connection that waits for its client since some time. Those of a lower rank are closed first."""

    rank: int
    since: float
    number: int
    connection: T


class ConnectionCapacity:
    """Connections that share a limit.

    `open` counts them; the server increments it. `idle` has the connections that wait for a request, with the time when
    they expire. `slow` has those that wait for their client within a request, with the time since when.
    """

    __slots__ = ("_owners", "_plan", "_planned_at", "idle", "limit", "open", "slow")

    def __init__(self, limit: int, owners: Owners) -> None:
        self.limit = limit
        self.open = 0
        self.idle: dict[Wire, float] = {}
        self.slow: dict[Wire, float] = {}
        self._owners = owners
        self._plan: list[Candidate[Wire]] = []
        self._planned_at = 0.0

    def has_place(self, now: float) -> bool:
        """True if there is a place for another connection. Closes a connection for it if necessary."""
        return self.open < self.limit or self.evict(now)

    def evict(self, now: float) -> bool:
        """Close the next connection of the plan. False if all are busy."""
        if now - self._planned_at > PLAN_S:
            self._plan.clear()
        for fresh in (False, True):
            if fresh:
                self._make_plan(now)
            while self._plan:
                if self._close(self._plan.pop()):
                    return True
        return False

    def _close(self, candidate: Candidate[Wire]) -> bool:
        """Close a connection, unless it has made progress since it was selected."""
        wire = candidate.connection
        if candidate.rank <= _SLOW:
            if self.slow.get(wire) != candidate.since:
                return False
            del self.slow[wire]
            wire.evict()
            return True
        if self.idle.get(wire) != candidate.since or not wire.close_idle():
            return False
        del self.idle[wire]
        return True

    def _make_plan(self, now: float) -> None:
        self._planned_at = now
        groups: dict[tuple[bool, str], list[Candidate[Wire]]] = {}
        for candidate in self._candidates():
            owner = self._owners.of(candidate.connection)
            groups.setdefault((self._owners.trusts(owner), owner), []).append(candidate)
        size = max(1, (len(self.idle) + len(self.slow)) // PLAN_SHARE)
        self._plan = list(take_in_turn(groups.items(), size))[::-1]

    def _candidates(self) -> Iterator[Candidate[Wire]]:
        number = 0
        for wire, since in self.slow.items():
            number += 1
            yield Candidate(_LINGERING if wire.lingering else _SLOW, since, number, wire)
        for wire, since in self.idle.items():
            number += 1
            yield Candidate(_IDLE if wire.used else _UNUSED, since, number, wire)


def take_in_turn(groups: Iterable[tuple[tuple[bool, str], list[Candidate[T]]]], size: int) -> Iterator[Candidate[T]]:
    """Yield the connections to close, in turn: one of the largest group each time, those of trusted proxies last."""
    heap = []
    for (trusted, _), candidates in groups:
        candidates.sort(reverse=True)
        heap.append((trusted, -len(candidates), candidates[-1], candidates))
    heapq.heapify(heap)
    for _ in range(size):
        if not heap:
            return
        trusted, _count, candidate, candidates = heap[0]
        candidates.pop()
        yield candidate
        if candidates:
            heapq.heapreplace(heap, (trusted, -len(candidates), candidates[-1], candidates))
        else:
            heapq.heappop(heap)


def _address(wire: Wire) -> str:
    client = wire.stream.client if isinstance(wire.stream, SocketStream) else None
    return "" if client is None else client[0]


def _plain(text: str) -> str:
    """An address without port, brackets and zone; IPv4 addresses that are mapped to IPv6 become IPv4."""
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
