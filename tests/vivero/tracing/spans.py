"""Whole programs in the test's process, with their spans in memory, and traces as text."""

from collections import defaultdict
from contextlib import asynccontextmanager

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.eventually import eventually
from tests.vivero.metrics.nodes import running
from vivero.tracing import export
from vivero.tracing.settings import TracingSettings

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
EVERYTHING = TracingSettings(otlp_endpoint="http://collector.invalid/v1/traces", sample_ratio=1.0)
NOT_BY_ITSELF = TracingSettings(otlp_endpoint="http://collector.invalid/v1/traces", sample_ratio=0.0)


class Traces:
    """The spans of a program so far."""

    def __init__(self, node, exporter) -> None:
        self.node, self._exporter = node, exporter

    async def all(self):
        await self.node.tree.tracing.flush()
        return self._exporter.get_finished_spans()

    async def of(self, trace_id=TRACE):
        return [span for span in await self.all() if span.context.trace_id == int(trace_id, 16)]

    async def until(self, shown, trace_id=TRACE):
        """Wait until the trace looks like this."""

        async def trace():
            return as_text(await self.of(trace_id))

        await eventually(trace, f"the trace is{shown}", accept=lambda found: found == shown.strip("\n"))

    async def until_there(self, name):
        """Wait until there is a span with this name."""

        async def names():
            return {span.name for span in await self.all()}

        await eventually(names, accept=lambda found: name in found)


@asynccontextmanager
async def traced(monkeypatch, database, tracing=EVERYTHING, exporter=None, **config):
    exporter = exporter or InMemorySpanExporter()
    monkeypatch.setattr(export, "to_collector", lambda _endpoint, readable: (exporter, readable))
    async with running(database, tracing=tracing, **config) as node:
        yield node, Traces(node, exporter)


def as_text(spans, root=int(SPAN, 16)):
    """A trace as an indented list: children in the order of their names. `root` is the parent of what comes first."""
    below = defaultdict(list)
    known = {span.context.span_id for span in spans} | {root}
    for span in spans:
        parent = root if span.parent is None else span.parent.span_id
        below[parent if parent in known else "lost"].append(span)
    lines = []

    def add(parent, depth):
        for text, span in sorted(((described(each), each) for each in below[parent]), key=lambda pair: pair[0]):
            lines.append("  " * depth + text)
            add(span.context.span_id, depth + 1)

    add(root, 0)
    for span in below["lost"]:
        lines.append(f"LOST {described(span)}")
        add(span.context.span_id, 1)
    return "\n".join(lines)


def described(span):
    status = span.attributes.get("http.response.status_code")
    rejection = span.attributes.get("vivero.command.rejection")
    return " ".join(str(part) for part in (span.name, status, rejection) if part is not None)
