"""The objects whose numbers metrics read. Each part of a node gives its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from vivero.engine.counters.buckets import Buckets
from vivero.storage.postgres.pool import Pool

T = TypeVar("T")


class Sources:
    """The objects of one moment, by their class. Only numbers are read, so a look costs the tasks nothing."""

    def __init__(self, objects: Iterable[object]) -> None:
        self._by_class: dict[type, list[Any]] = defaultdict(list)
        for one in objects:
            self._by_class[type(one)].append(one)

    def of(self, kind: type[T]) -> Sequence[T]:
        """All objects of a class; none if the node has no such part."""
        return self._by_class.get(kind, ())


@dataclass(frozen=True, slots=True)
class NamedPool:
    """A pool of connections, and how long callers waited that found no free one."""

    name: str
    pool: Pool
    waited_s: Buckets


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """Spans that the collector has taken, and those that were dropped."""

    exported: int
    dropped: int
