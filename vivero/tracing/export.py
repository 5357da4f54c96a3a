"""Spans on their way to the collector: OpenTelemetry's batch processor exports them in a thread of its own.

The event loop only puts a span into a bounded queue. A collector that is away, slow or silent fills the queue, and
what does not fit is dropped and counted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import structlog
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from vivero.engine.tracing.tracer import Span, SpanRole
from vivero.engine.tracing.w3c import TraceContext
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

TIMEOUT_S = 10.0
"""The time that one export may take, tries included."""
BATCH = 512
"""Spans of one export."""
EVERY_MS = 2_000

_KINDS = {kind: SpanKind[kind.value] for kind in SpanRole}
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_OK = Status(StatusCode.UNSET)


class Exporter(Protocol):
    """Takes what the queue has: OpenTelemetry's exporters take `ReadableSpan`s, that for a collector encoded spans."""

    def export(self, spans: Sequence[Any], /) -> SpanExportResult: ...

    def shutdown(self) -> None: ...


class _Counted(SpanExporter):
    """Counts what leaves the queue, and tells once that spans do not arrive, and once that they do again."""

    def __init__(self, exporter: Exporter) -> None:
        self._exporter = exporter
        self._works = True
        self.taken = self.exported = self.failed = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.taken += len(spans)
        try:
            result, why = self._exporter.export(spans), ""
        except Exception as error:  # whatever it is: the thread that exports must live
            result, why = SpanExportResult.FAILURE, describe(error)
        works = result is SpanExportResult.SUCCESS
        if works:
            self.exported += len(spans)
        else:
            self.failed += len(spans)
        if works is not self._works:
            tell = log.info if works else log.warning
            tell("traces reach the collector again" if works else "traces do not reach the collector", cause=why)
        self._works = works
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class Export:
    """The queue, and the thread that empties it."""

    def __init__(
        self, exporter: Exporter, prepared: Callable[[Span], Any], queue_size: int, every_ms: int = EVERY_MS
    ) -> None:
        """`prepared(span)` is what the exporter takes."""
        self._counted, self._prepared = _Counted(exporter), prepared
        self._capacity, self._queued, self._dropped = queue_size, 0, 0
        self._processor = BatchSpanProcessor(self._counted, queue_size, every_ms, min(BATCH, queue_size))

    @property
    def exported(self) -> int:
        """Spans that the collector has taken."""
        return self._counted.exported

    @property
    def dropped(self) -> int:
        """Spans that found the queue full, or that the collector did not take."""
        return self._dropped + self._counted.failed

    def record(self, span: Span) -> None:
        """Queue a span. Never waits."""
        if self._queued - self._counted.taken >= self._capacity:
            self._dropped += 1
            return
        self._queued += 1
        self._processor.on_end(self._prepared(span))

    def flush(self) -> None:
        """Export what is queued. Waits for the collector."""
        self._processor.force_flush()

    def close(self, timeout_s: float) -> None:
        """Export what is queued, as far as that is done within the time, and end. Blocks the thread."""
        self._processor._batch_processor.shutdown(round(timeout_s * 1000))  # the public method takes no time
        self._dropped += max(0, self._queued - self._counted.taken)


class Readable:
    """Makes OpenTelemetry's spans: for exporters of OpenTelemetry."""

    def __init__(self, resource: Resource, version: str) -> None:
        self._resource, self._scope = resource, InstrumentationScope("vivero", version)

    def __call__(self, span: Span) -> ReadableSpan:
        context, parent = span.context, None
        own = _context(context)
        if span.parent:
            parent = SpanContext(own.trace_id, int(span.parent, 16), True, _SAMPLED, own.trace_state)
        return ReadableSpan(
            span.name,
            own,
            parent,
            self._resource,
            span.attributes,
            (),
            [Link(_context(link)) for link in span.links],
            _KINDS[span.kind],
            None,
            _OK if span.error is None else Status(StatusCode.ERROR, span.error),
            span.start_ns,
            span.end_ns,
            self._scope,
        )


def _context(context: TraceContext) -> SpanContext:
    state = TraceState.from_header([context.state]) if context.state else None
    return SpanContext(int(context.trace_id, 16), int(context.span_id, 16), False, _SAMPLED, state)


def to_collector(endpoint: str, readable: Readable) -> tuple[Exporter, Callable[[Span], Any]]:
    """The exporter for a collector (OTLP over HTTP), and what makes its spans. Its log lines are ours already."""
    from vivero.tracing.otlp import EncodedExporter, encode  # half a second

    for name in ("opentelemetry.exporter", "opentelemetry.sdk._shared_internal", "urllib3"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    any_span = readable(Span("any", SpanRole.INTERNAL, TraceContext("1" * 32, "1" * 16), "", 0, 0))
    return EncodedExporter(endpoint, TIMEOUT_S, any_span), encode
