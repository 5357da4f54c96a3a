"""Spans of OpenTelemetry around the functions of a worker, as parts of the traces of their processes.

The span goes where the worker's program sends its spans. Without the package, or without a provider, nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from vivero.worker.job import Job

try:
    from opentelemetry import propagate, trace
except ImportError:  # a worker needs no OpenTelemetry
    propagate = trace = None  # type: ignore[assignment]

Headers = Mapping[str, str]


@contextmanager
def span_of(job: Job, function: str) -> Generator[Callable[[BaseException], None]]:
    """The block is a span below the process's span. The given function notes that the job's function has failed."""
    if trace is None:
        yield lambda _error: None
        return
    attributes = {
        "code.function.name": function,
        "vivero.job.key": job.job_key,
        "vivero.job.type": job.type,
        "vivero.process_instance.key": job.process_instance_key,
        "vivero.element.id": job.element_id,
    }
    tracer, parent = trace.get_tracer("vivero.worker"), propagate.extract(job.trace_headers)
    name, kind = f"work {job.type}", trace.SpanKind.CONSUMER
    with tracer.start_as_current_span(name, parent, kind, attributes, record_exception=False) as span:

        def failed(error: BaseException) -> None:
            span.record_exception(error)
            span.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))

        yield failed


def headers_for(job: Job) -> Headers:
    """The headers with which a report continues the trace: below the current span, if it is recorded."""
    if trace is None or not trace.get_current_span().is_recording():
        return job.trace_headers
    carrier: dict[str, Any] = {}
    propagate.inject(carrier)
    return carrier
