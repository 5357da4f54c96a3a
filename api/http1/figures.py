"""Counts of a server's connections and requests, for people and metrics."""

from dataclasses import dataclass


@dataclass(slots=True)
class HttpFigures:
    """The work of a server since its start. It survives restarts of the server's task."""

    accepted: int = 0
    """Connections that were accepted, without those that were turned away."""
    closed: int = 0
    requests: int = 0
    """Requests that reached the application."""

    @property
    def connections(self) -> int:
        """Open connections."""
        return self.accepted - self.closed
