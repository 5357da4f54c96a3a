"""The limits and deadlines of the HTTP server, which bound the work that a client can cause."""

from dataclasses import dataclass, fields
from ipaddress import IPv4Network, IPv6Network, ip_network

from vivero.core.texts.fields import listed


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Addresses and networks, separated by commas. Raises ValueError for other texts."""
    return tuple(map(ip_network, listed(text)))


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Limits in bytes and counts, deadlines in real seconds. Raises ValueError with the name of an invalid field.

    - `max_connections`: open connections. Beyond them a slow or idle one is closed (see `connection_capacity`). If all
      are busy, the new one is one of `reserved_connections`: its request gets 503 unless it asks for `health_path`.
      The sum of both must be below the process's limit of file descriptors, which the database's sockets use, too.
    - `trusted_proxies`: addresses and networks, separated by commas, whose X-Forwarded-For names a request's client.
    - `max_in_flight`: concurrent handlers of all connections, None for no limit. Beyond it requests get 503, except for
      `health_path`. Off by default, because only the API knows which requests (completions) must not be refused.
    - `max_header_bytes`: the request line and all header fields. White space around
      a value can add two slices of 4 KiB, of which the parser tells nothing.
    - `max_headers`, `max_target_bytes`, `max_body_bytes`: header fields, the request target, a decoded body.
    - `header_timeout_s`: from a request's first byte to the end of its header, and for a connection's first byte.
    - `body_timeout_s`: the time for one body in addition to its time at `min_body_bytes_per_s`. A faster part of the
      body gives no credit for a later pause.
    - `memory_bytes`: bodies and unread answers together. Beyond it slow connections are closed, and new bodies wait for
      `memory_wait_s` and then get 503.
    - `keep_alive_s`: idle time of a connection between requests. It should exceed a proxy's own idle time (often 60 s),
      so that the proxy closes first.
    - `send_timeout_s`: the time for reading a response in addition to its time at `min_send_bytes_per_s`.
    - `drain_grace_s`: the time for open requests after `drain` is set.
    - `linger_s`: the time to read from a refused client after its answer, so that a reset does not destroy the answer.
      A client that sends much has more.
    """

    max_connections: int = 1000
    """Open connections. Beyond it, slow and idle ones of the address that holds most are closed."""
    reserved_connections: int = 64
    """Further connections for health checks; everything else gets 503 there."""
    health_path: str = "/v2/status"
    """Path that is served on reserved connections and beyond `http.max_in_flight`."""
    trusted_proxies: str = ""
    """Addresses and networks, separated by commas, whose `X-Forwarded-For` names the client."""
    max_in_flight: int | None = None
    """Requests handled at the same time, without those for `http.health_path`; beyond it 503. None: no limit."""
    max_header_bytes: int = 32 * 1024
    """Request line and headers together; beyond it 431."""
    max_headers: int = 100
    """Header fields; beyond it 431."""
    max_target_bytes: int = 8 * 1024
    """Request target; beyond it 414."""
    max_body_bytes: int = 16 * 1024 * 1024
    """Any body; beyond it 413."""
    header_timeout_s: float = 10.0
    """Time from the first byte of a request to the end of its headers; beyond it 408."""
    body_timeout_s: float = 30.0
    """Time of a body beyond that at `http.min_body_bytes_per_s`; then 408."""
    min_body_bytes_per_s: int = 16 * 1024
    """Rate of a body."""
    keep_alive_s: float = 75.0
    """Idle time of a connection."""
    send_timeout_s: float = 30.0
    """Time of a client for reading an answer, beyond that at `http.min_send_bytes_per_s`; then the connection is
    closed.
    """
    min_send_bytes_per_s: int = 4 * 1024
    """Rate at which a client reads an answer."""
    memory_bytes: int = 128 * 1024 * 1024
    """Bodies of more than 64 KiB, and unread answers. Beyond it, the address that holds most by being slow loses its
    connections.
    """
    memory_wait_s: float = 2.0
    """Wait of a body for that memory before 503."""
    drain_grace_s: float = 5.0
    """Time of open requests when the server stops."""
    linger_s: float = 1.0
    """Time for which the server reads from a client after it has answered before the end of the request; longer while
    512 KiB a second come.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not value > 0:
                raise ValueError(f"{field.name} must be greater than 0, but is {value!r}")
        networks(self.trusted_proxies)
