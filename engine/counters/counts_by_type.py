"""Counts by job type, for metrics: job types come from models and clients, so their number is bounded."""

from __future__ import annotations

from collections import Counter

MAX_TYPES = 100
OTHER = "other"


class CountsByType:
    """Counts of events of jobs by type. The types after the first `MAX_TYPES` count as `OTHER`."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        """By event and type."""
        self._types: set[str] = set()

    def note(self, event: str, type: str, count: int) -> None:
        """`event` happened so many times to jobs of a type."""
        if type not in self._types:
            if len(self._types) < MAX_TYPES:
                self._types.add(type)
            else:
                type = OTHER
        self.counts[event, type] += count

    def of(self, event: str) -> list[tuple[str, int]]:
        """The types with their counts of an event."""
        return [(type_, count) for (each, type_), count in self.counts.items() if each == event]
