"""Logging to stderr, as lines for people or JSON for machines. Stdout is for the output of commands."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any, TextIO

import structlog


def configure(format: str, level: str, stream: TextIO | None = None, **always: str) -> None:
    """Log in `format` from `level` up to `stream` (default: stderr). Every line has the fields `always`."""
    stream = stream or sys.stderr
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            partial(_add, always),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(_json() if format == "json" else _console(stream)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )


def _add(always: Mapping[str, str], _logger: Any, _method: str, event: MutableMapping[str, Any]) -> Any:
    event.update(always)
    return event


def _console(stream: TextIO) -> list[Any]:
    return [
        structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback),
    ]


def _json() -> list[Any]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
