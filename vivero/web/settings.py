"""Settings of the pages for browsers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebSettings:
    """`max_streams…` bound the streams of hints (`GET /console/live`), each of which holds a connection."""

    max_streams: int = 200
    """Streams of hints (`GET /console/live`) on this node, at most a quarter of `http.max_connections`. Beyond it 503;
    the console then asks every five seconds.
    """
    max_streams_per_client: int = 20
    """Streams of one user, or of one address without authentication. Each open tab has one."""

    def __post_init__(self) -> None:
        if self.max_streams < 0 or self.max_streams_per_client < 0:
            raise ValueError("it must be at least 0")
