"""Logging to stderr, as lines for people or JSON for machines. Stdout is for the output of commands."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

import structlog


def configure(format: str, level: str, stream: TextIO | None = None) -> None:
    """Log in `format` from `level` up to `stream` (default: stderr)."""
    stream = stream or sys.stderr
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(_json() if format == "json" else _console(stream)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )


def _console(stream: TextIO) -> list[Any]:
    return [
        structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback),
    ]


def _json() -> list[Any]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
