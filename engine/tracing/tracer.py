"""Spans as plain values: who records one decides nothing about its export, and nothing waits.

A span exists only if its trace is sampled. The decision is made once for each trace, where it begins: the context of a
request decides, and without one the ratio. Everything below has a context, or none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from time import time_ns

import msgspec

from vivero.engine.tracing import w3c
from vivero.engine.tracing.w3c import TraceContext

Value = str | int | bool


class SpanRole(Enum):
    """The role of a span in a trace, as OpenTelemetry names it."""

    INTERNAL = "INTERNAL"
    SERVER = "SERVER"
    CLIENT = "CLIENT"
    PRODUCER = "PRODUCER"
    CONSUMER = "CONSUMER"


class Span(msgspec.Struct, frozen=True, gc=False):
    """A span that has ended. Times are epoch nanoseconds of this machine."""

    name: str
    kind: SpanRole
    context: TraceContext
    parent: str
    """The id of the parent's span; empty for the first span of a trace."""
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Value] = {}
    links: tuple[TraceContext, ...] = ()
    error: str | None = None
    """The reason for its failure; None: it did not fail."""


class Begun(msgspec.Struct, frozen=True, gc=False):
    """A span that is under way."""

    context: TraceContext
    parent: str
    start_ns: int


class Tracer:
    """Begins and records the spans of a node."""

    def __init__(self, sample_ratio: float, record: Callable[[Span], None]) -> None:
        """`record` takes a span over. It may not wait, and it may not raise."""
        self._ratio, self._record = sample_ratio, record

    def from_headers(self, headers: Iterable[tuple[bytes, bytes]]) -> Begun | None:
        """The span of a request, if it is sampled: its sender has decided, or else the ratio does."""
        parent = w3c.from_headers(headers)
        if parent is None:
            return self.root()
        return self.below(parent) if parent.sampled else None

    def root(self) -> Begun | None:
        """The first span of a trace, if the ratio wants it."""
        return self.alone() if random.random() < self._ratio else None

    def alone(self) -> Begun:
        """The first span of a trace that is sampled in any case."""
        return Begun(TraceContext(_id(128), _id(64)), "", time_ns())

    def below(self, parent: TraceContext) -> Begun:
        """A span with this parent."""
        return Begun(parent.child(_id(64)), parent.span_id, time_ns())

    def end(
        self,
        begun: Begun,
        name: str,
        kind: SpanRole = SpanRole.INTERNAL,
        attributes: Mapping[str, Value] = {},
        links: tuple[TraceContext, ...] = (),
        error: str | None = None,
        end_ns: int | None = None,
    ) -> None:
        """Record a span that ends now, or has ended at `end_ns`."""
        context, parent, start = begun.context, begun.parent, begun.start_ns
        end = max(start, time_ns() if end_ns is None else end_ns)
        self._record(Span(name, kind, context, parent, start, end, attributes, links, error))


def _id(bits: int) -> str:
    """An id that is not zero, which would be no id."""
    return f"{random.getrandbits(bits) or 1:0{bits // 4}x}"
