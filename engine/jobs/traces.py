"""The spans of background jobs (`spans.Spans`). A run continues the trace of the request that added its execution."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from vivero.engine.jobs.span_names import DISPATCH
from vivero.engine.tracing import w3c
from vivero.engine.tracing.current import CURRENT, within
from vivero.engine.tracing.names import ERROR_TYPE
from vivero.engine.tracing.tracer import Begun, SpanRole, Tracer, Value
from vivero.engine.tracing.w3c import TraceContext
from vivero.storage.background.job_executions import Run


class JobSpans:
    """Begins the spans of runs that are sampled. The context of a span is current in its block."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def __call__(self, name: str, run: Run) -> Generator[None]:
        begun = self._dispatch(run) if name == DISPATCH else self._below()
        if begun is None:
            yield
            return
        attributes: dict[str, Value] = {
            "vivero.background_job.type": run.type,
            "vivero.background_job.id": run.id,
            "vivero.background_job.attempt": run.attempt,
        }
        error = None
        try:
            with within(begun.context):
                yield
        except BaseException as raised:
            error = attributes[ERROR_TYPE] = type(raised).__name__
            raise
        finally:
            kind = SpanRole.CONSUMER if name == DISPATCH else SpanRole.INTERNAL
            self._tracer.end(begun, name, kind, attributes, error=error)

    def _dispatch(self, run: Run) -> Begun | None:
        parent = context_of(run.trace_context)
        if parent is None:
            return self._tracer.root()
        return self._tracer.below(parent) if parent.sampled else None

    def _below(self) -> Begun | None:
        current = CURRENT.get()
        return None if current is None else self._tracer.below(current)


def context_of(stored: str | None) -> TraceContext | None:
    """The context that came with an execution; None without one that is valid."""
    return None if stored is None else w3c.of_headers(msgspec.json.decode(stored))


def stored_form(context: TraceContext | None) -> str | None:
    """A context in the form for an execution: a JSON object of headers."""
    return None if context is None else msgspec.json.encode(context.headers).decode()
