"""The request whose task runs, for log lines: its id, and the position of its command."""

from __future__ import annotations

from contextvars import ContextVar

REQUEST_ID: ContextVar[str | None] = ContextVar("vivero_request_id", default=None)
"""The id that the client gave its request, or that it got here. Tasks that the request starts inherit it."""
POSITION: ContextVar[int | None] = ContextVar("vivero_position", default=None)
"""The position of the request's command in the log, once it has one."""
