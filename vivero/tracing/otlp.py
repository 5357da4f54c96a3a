"""Spans in the format of OTLP: `opentelemetry/proto/trace/v1/trace.proto`, as protobuf writes it.

OpenTelemetry's own encoder takes 26 µs for a span, and its objects keep the garbage collector busy. This takes four.
Attributes with few values are encoded once. A test compares the result with that of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct

import msgspec
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanContext, TraceFlags

from vivero.engine.tracing.tracer import Span, SpanRole, Value
from vivero.engine.tracing.w3c import TraceContext
from vivero.tracing.collectors import CollectorSession

_TIMES = Struct("<BQBQ").pack
_KINDS = {kind: b"\x30" + bytes([1 + number]) for number, kind in enumerate(SpanRole)}
"""Field 6. The kinds are in the order of the format."""
_START, _END = 0x39, 0x41
_ROOT, _CHILD = (b"\x85\x01" + flags.to_bytes(4, "little") for flags in (0x100, 0x300))
"""Field 16: whether the parent is of another process is known, and what it is."""
_LINK_FLAGS = b"\x35" + (0x100).to_bytes(4, "little")
REMEMBERED = 4_096


class EncodedSpan(msgspec.Struct, frozen=True, gc=False):
    """A span as the request of an export has it."""

    data: bytes

    @property
    def context(self) -> SpanContext:
        """A context with the flag that OpenTelemetry's queue reads: the span is sampled."""
        return _SAMPLED


_SAMPLED = SpanContext(1, 1, False, TraceFlags(TraceFlags.SAMPLED))


def encode(span: Span) -> EncodedSpan:
    """The field `spans` with this span."""
    context = span.context
    parts = [b"\x0a\x10", bytes.fromhex(context.trace_id), b"\x12\x08", bytes.fromhex(context.span_id)]
    if context.state:
        parts.append(_text(b"\x1a", context.state))
    if span.parent:
        parts += b"\x22\x08", bytes.fromhex(span.parent)
    parts += _name(span.name), _KINDS[span.kind], _TIMES(_START, span.start_ns, _END, span.end_ns)
    parts += [_attribute(name, value) for name, value in span.attributes.items()]
    parts += [_link(link) for link in span.links]
    parts.append(b"\x7a\x00" if span.error is None else _error(span.error))
    parts.append(_CHILD if span.parent else _ROOT)
    return EncodedSpan(_field(b"\x12", b"".join(parts)))


def _field(tag: bytes, content: bytes) -> bytes:
    return tag + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _text(tag: bytes, text: str) -> bytes:
    return _field(tag, text.encode(errors="replace"))


@lru_cache(REMEMBERED)
def _name(name: str) -> bytes:
    return _text(b"\x2a", name)


@lru_cache(REMEMBERED)
def _error(error: str) -> bytes:
    return _field(b"\x7a", _text(b"\x12", error) + b"\x18\x02")


@lru_cache(REMEMBERED, typed=True)
def _attribute(name: str, value: Value) -> bytes:
    if isinstance(value, str):
        content = _text(b"\x0a", value)
    elif isinstance(value, bool):
        content = b"\x10" + bytes((value,))
    else:
        content = b"\x18" + _varint(value & (1 << 64) - 1)
    return _field(b"\x4a", _text(b"\x0a", name) + _field(b"\x12", content))


def _link(link: TraceContext) -> bytes:
    ids = b"\x0a\x10" + bytes.fromhex(link.trace_id) + b"\x12\x08" + bytes.fromhex(link.span_id)
    return _field(b"\x6a", ids + _LINK_FLAGS)


class EncodedExporter:
    """OpenTelemetry's exporter over HTTP with its settings, retries and time limit, for spans that are encoded."""

    def __init__(self, endpoint: str, timeout_s: float, any_span: ReadableSpan) -> None:
        """`any_span` has the resource and the scope of all spans."""
        self._exporter = OTLPSpanExporter(endpoint, timeout=timeout_s, session=CollectorSession())
        (resource,) = encode_spans([any_span]).resource_spans
        (scope,) = resource.scope_spans
        self._scope = _field(b"\x0a", scope.scope.SerializeToString())
        self._resource = _field(b"\x0a", resource.resource.SerializeToString())

    def export(self, spans: Sequence[EncodedSpan]) -> SpanExportResult:
        """Send spans. Waits for the collector."""
        content = self.request(spans)
        sent = self._exporter._client.export(content).success  # the public method would encode, and 8 times as slowly
        return SpanExportResult.SUCCESS if sent else SpanExportResult.FAILURE

    def request(self, spans: Sequence[EncodedSpan]) -> bytes:
        """The request for these spans (ExportTraceServiceRequest)."""
        scope = _field(b"\x12", self._scope + b"".join([span.data for span in spans]))
        return _field(b"\x0a", self._resource + scope)

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
