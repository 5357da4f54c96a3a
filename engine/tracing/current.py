"""The trace of the task that runs, so that log lines can name it. Without tracing nobody sets it."""

from __future__ import annotations

from contextvars import ContextVar

from vivero.engine.tracing.w3c import TraceContext

CURRENT: ContextVar[TraceContext | None] = ContextVar("vivero_trace", default=None)
"""The context of the request or the command that the task works on. Tasks that it starts inherit it."""


def trace_id() -> str | None:
    """The id of the current trace, 32 hexadecimal digits; None: there is none, or it is not sampled."""
    context = CURRENT.get()
    return context.trace_id if context is not None and context.sampled else None
