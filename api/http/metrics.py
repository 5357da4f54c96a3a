"""Metrics of the API: requests by route and status, with their times; and the form in which all metrics are shown."""

from __future__ import annotations

from typing import NamedTuple

from vivero.engine.counters.buckets import Buckets
from vivero.engine.counters.counts_by_type import OTHER, CountsByType

UNKNOWN = "unknown"
"""The route of a request that names no resource, or is refused before it is routed. Names of clients are no labels."""


class Metrics(NamedTuple):
    """Metrics in a format that Prometheus reads."""

    content_type: str
    text: bytes


RequestKind = tuple[str, str, int]
"""Requests are counted by method, route and status."""


class RequestFigures:
    """The figures since the program started. There are as many kinds as routes and statuses."""

    def __init__(self) -> None:
        self.by_kind: dict[RequestKind, Buckets] = {}
        self.jobs = CountsByType()
        """Activated jobs."""

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        kind = (OTHER if route == UNKNOWN else method, route, status)
        buckets = self.by_kind.get(kind)
        if buckets is None:
            buckets = self.by_kind[kind] = Buckets()
        buckets.note(seconds)

    def note_activated(self, type: str, jobs: int) -> None:
        """Jobs of a type were given to a worker."""
        self.jobs.note("activated", type, jobs)
