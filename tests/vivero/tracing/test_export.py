"""Spans on their way to a collector that is slow, silent, away or broken: nothing waits, and losses are counted."""

import threading

import msgspec
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode

from tests.engine.connectors.conftest import serving
from tests.vivero.metrics.nodes import running
from tests.vivero.tracing.spans import PARENT, SPAN, TRACE
from vivero.engine.tracing.tracer import Span, SpanRole
from vivero.engine.tracing.w3c import TraceContext
from vivero.tracing.export import Export, Readable
from vivero.tracing.otlp import EncodedExporter, encode
from vivero.tracing.settings import TracingSettings

CAPACITY = 600
READABLE = Readable(Resource({"service.name": "test"}), "1")


def span(number=1, **more):
    context = TraceContext(TRACE, f"{number:016x}", True, "vendor=1")
    return Span("name", SpanRole.CLIENT, context, "00f067aa0ba902b7", 1, 2, {"key": number}, **more)


class Collector(SpanExporter):
    """Takes spans when it may."""

    def __init__(self, open=True, result=SpanExportResult.SUCCESS) -> None:
        self.opened, self.entered = threading.Event(), threading.Event()
        self.spans, self._result = [], result
        if open:
            self.opened.set()

    def export(self, spans):
        self.entered.set()
        self.opened.wait()
        if isinstance(self._result, Exception):
            raise self._result
        self.spans += spans
        return self._result

    def shutdown(self):
        pass


@pytest.fixture
def exporting():
    made = []

    def make(collector):
        made.append((collector, Export(collector, READABLE, CAPACITY)))
        return made[-1][1]

    yield make
    for collector, export in made:
        collector.opened.set()
        export.close(5.0)


def test_a_span_arrives_as_it_was_recorded(exporting):
    collector = Collector()
    export = exporting(collector)
    export.record(span(links=(TraceContext(TRACE, "2" * 16),), error="TIMEOUT"))
    export.flush()
    (found,) = collector.spans
    assert (found.name, found.kind.name, found.start_time, found.end_time) == ("name", "CLIENT", 1, 2)
    assert f"{found.context.trace_id:032x}" == TRACE
    assert (found.context.span_id, found.parent.span_id) == (1, 0x00F067AA0BA902B7)
    assert found.context.trace_state.to_header() == "vendor=1"
    assert [link.context.span_id for link in found.links] == [0x2222222222222222]
    assert (found.status.status_code, found.status.description) == (StatusCode.ERROR, "TIMEOUT")
    assert dict(found.attributes) == {"key": 1}
    assert (export.exported, export.dropped) == (1, 0)


def test_what_does_not_fit_into_the_queue_is_dropped_and_counted(exporting):
    collector = Collector(open=False)
    export = exporting(collector)
    for number in range(1, 3 * CAPACITY + 1):
        export.record(span(number))  # would never end if it waited
    assert collector.entered.wait(20)
    assert export.dropped >= CAPACITY
    collector.opened.set()
    export.flush()
    export.record(span(9_999))
    export.flush()
    assert collector.spans[-1].attributes["key"] == 9_999
    assert export.exported == len(collector.spans)
    assert export.exported + export.dropped == 3 * CAPACITY + 1


@pytest.mark.parametrize("result", [SpanExportResult.FAILURE, RuntimeError("broken")])
def test_what_the_collector_refuses_is_counted(exporting, result):
    export = exporting(Collector(result=result))
    for number in range(1, 8):
        export.record(span(number))
    export.flush()
    assert (export.exported, export.dropped) == (0, 7)


def test_the_end_does_not_wait_for_a_silent_collector(exporting):
    collector = Collector(open=False)
    export = exporting(collector)
    for number in range(1, 11):
        export.record(span(number))
    export.close(0.05)
    assert export.exported == 0


async def test_a_collector_gets_the_spans_of_a_program(database):
    """Over HTTP, as a program sends them at its end."""
    async with serving(lambda _request: (200, {}, b"")) as collector:
        tracing = TracingSettings(f"{collector.url}/v1/traces", sample_ratio=0.0, service_name="shop")
        async with running(database, "node-7", tracing=tracing) as node:
            await node.deploy()
            body = {"processDefinitionId": "greet"}
            assert (await node.client.post("/v2/process-instances", json=body, headers=PARENT)).status_code == 200
        requests = [ExportTraceServiceRequest.FromString(each.body) for each in collector.received]
    assert {each.target for each in collector.received} == {"/v1/traces"}
    resources = [one for request in requests for one in request.resource_spans]
    attributes = {one.key: one.value.string_value for one in resources[0].resource.attributes}
    assert (attributes["service.name"], attributes["service.instance.id"]) == ("shop", "node-7")
    spans = [one for each in resources for scope in each.scope_spans for one in scope.spans]
    names = {one.name for one in spans if one.trace_id.hex() == TRACE}
    assert names == {
        "POST /v2/process-instances",
        "append PROCESS_INSTANCE_CREATION:CREATE",
        "process PROCESS_INSTANCE_CREATION:CREATE",
        "commit",
    }


@pytest.mark.long
async def test_a_program_works_while_its_collector_is_away(database):
    tracing = TracingSettings("http://127.0.0.1:9/v1/traces", sample_ratio=1.0, flush_s=0.1)
    async with running(database, tracing=tracing) as node:
        await node.deploy()
        for _ in range(5):
            await node.create()


PARENT_CONTEXT = TraceContext(TRACE, SPAN)
SPANS = [
    span(),
    span(2, error="TIMEOUT", links=(TraceContext(TRACE, "2" * 16), TraceContext("a" * 32, "b" * 16))),
    *(msgspec.structs.replace(span(3 + number), kind=kind) for number, kind in enumerate(SpanRole)),
    Span("ü" * 300, SpanRole.SERVER, TraceContext(TRACE, "3" * 16), "", 2**60, 2**61, {"a": "b" * 20_000, "n": -1}),
    Span("", SpanRole.SERVER, TraceContext(TRACE, "4" * 16), "", 0, 0, {"": "", "one": 1, "yes": True, "no": False}),
    Span(
        "many",
        SpanRole.CONSUMER,
        TraceContext(TRACE, "5" * 16),
        "",
        1,
        1,
        {"z": 2**40},
        (TraceContext(TRACE, SPAN),) * 128,
    ),
]


def test_our_encoding_is_that_of_opentelemetry():
    exporter = EncodedExporter("http://127.0.0.1:9/v1/traces", 1.0, READABLE(span()))
    ours = ExportTraceServiceRequest.FromString(exporter.request([encode(each) for each in SPANS]))
    assert ours == encode_spans([READABLE(each) for each in SPANS])
    exporter.shutdown()
