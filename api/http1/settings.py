"""The limits and deadlines of the HTTP server: every number that bounds what a client can make it do."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Limits in bytes and counts, deadlines in real seconds. Raises ValueError naming the field that is not positive.

    - `max_connections`: open connections; beyond them the longest idle one is closed, and if all are busy the new one
      gets 503. Keep it below the process's file descriptor limit, with room for the database's sockets.
    - `max_in_flight`: handlers running at once over all connections, None for no limit. Beyond it: 503. Off by default,
      because only the API knows which requests (completions) must not be refused under load.
    - `max_header_bytes`: the request line and all header fields; never more than this and one 4 KiB slice is read.
    - `max_headers`, `max_target_bytes`, `max_body_bytes`: header fields, the request target, a decoded body.
    - `header_timeout_s`: from a request's first byte to the end of its header; for the first byte of a connection, too.
    - `body_timeout_s`: the time the server spends waiting for the body of one request, all waits together, and a second
      more for each 16 KiB that arrived: slow is allowed, dripping is not.
    - `keep_alive_s`: how long a connection may be idle between requests. Longer than a proxy's own idle time (often
      60 s), so that the proxy is the one that closes.
    - `send_timeout_s`: how long a client may take to accept each 64 KiB of a response: slow is allowed, stopped is not.
    - `drain_grace_s`: how long open requests may go on after `drain` is set.
    - `linger_s`: how long a refused client is listened to after its answer, so that a reset does not destroy it.
    """

    max_connections: int = 1000
    max_in_flight: int | None = None
    max_header_bytes: int = 32 * 1024
    max_headers: int = 100
    max_target_bytes: int = 8 * 1024
    max_body_bytes: int = 16 * 1024 * 1024
    header_timeout_s: float = 10.0
    body_timeout_s: float = 30.0
    keep_alive_s: float = 75.0
    send_timeout_s: float = 30.0
    drain_grace_s: float = 5.0
    linger_s: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise ValueError(f"server setting {field.name} must be greater than 0, got {value!r}")
