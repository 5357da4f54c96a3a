"""The trace and the request of the task that runs, so that log lines can name them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from vivero.engine.tracing.w3c import TraceContext

CURRENT: ContextVar[TraceContext | None] = ContextVar("vivero_trace", default=None)
"""The context of the request or the command that the task works on. Tasks that it starts inherit it."""
REQUEST_ID: ContextVar[str | None] = ContextVar("vivero_request_id", default=None)
"""The id that the client gave its request, or that it got here. Tasks that the request starts inherit it."""
POSITION: ContextVar[int | None] = ContextVar("vivero_position", default=None)
"""The position of the request's command in the log, once it has one."""


@contextmanager
def within(context: TraceContext) -> Generator[None]:
    """The block works on this context."""
    token = CURRENT.set(context)
    try:
        yield
    finally:
        CURRENT.reset(token)


def trace_id() -> str | None:
    """The id of the current trace, 32 hexadecimal digits; None: there is none, or it is not sampled."""
    context = CURRENT.get()
    return context.trace_id if context is not None and context.sampled else None
