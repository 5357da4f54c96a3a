"""Logging to stderr: one line an event, for people or as JSON for machines. Stdout is for the output of commands.

lines    what a line has, and what it never has
levels   which logger writes from which level, while the program runs
writer   a thread that writes, because a full pipe or disk must never stop the engine

Entry: `levels`, `lines`, `writer`.
Imports: core, storage, engine.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import Mapping
from typing import TextIO

import structlog

from vivero.logs import lines, writer
from vivero.logs.levels import LEVELS, Logger
from vivero.logs.standard import Forward
from vivero.logs.writer import Writer

FLUSH_S = 1.0
"""The time for which the end of the program waits for lines that are not written yet."""

_writer: Writer | None = None


def configure(
    format: str,
    level: str,
    stream: TextIO | None = None,
    *,
    levels: Mapping[str, str] | None = None,
    exception_texts: bool = False,
    always: Mapping[str, str] | None = None,
) -> None:
    """Log in `format` from `level` up to `stream` (default: stderr). Every line has the fields `always`.

    `levels` has other levels for single loggers. `exception_texts`: show the texts of unexpected errors, too.
    """
    global _writer
    always = always or {}
    as_json, terminal = format == "json", writer.is_terminal(stream)
    render = lines.renderer(as_json, terminal)

    def tell_lost(count: int) -> str:
        return render(lines.of_lost(count, always))

    flush()
    made = _writer = Writer(writer.sink(stream), tell_lost)
    LEVELS.begin(level, levels or {})
    processors = lines.processors(always, exception_texts, render)
    structlog.configure(
        processors=processors,
        wrapper_class=Logger,
        logger_factory=lambda *names: LEVELS.logger(names[0] if names else "", made.write),
        cache_logger_on_first_use=True,
    )
    _forward(processors, made)


def flush(within_s: float = FLUSH_S) -> None:
    """Wait until all lines are written, but no longer than that."""
    if _writer is not None:
        _writer.flush(within_s)


SILENT = ("mcp", "httpx2")
"""Libraries that log URLs with secrets, and whatever the servers of connectors say."""


def _forward(processors: lines.Processors, made: Writer) -> None:
    """Let the libraries' log lines, and those of the user's own jobs, look like ours."""
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, Forward)]:
        root.removeHandler(handler)
    root.addHandler(Forward(processors, lambda name: LEVELS.logger(name, made.write)))
    root.setLevel(logging.NOTSET)
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.captureWarnings(True)


atexit.register(flush)

__all__ = ["LEVELS", "configure", "flush"]
