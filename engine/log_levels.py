"""The names of loggers and levels, for settings and for clients that change levels at run time."""

from __future__ import annotations

import re
from collections.abc import Mapping

LEVELS = ("debug", "info", "warning", "error")
LOGGER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
"""The names of loggers: those of modules."""
MAX_NAME = 200
MAX_LOGGERS = 50
"""Loggers whose levels may be changed at one node."""


def problem_of(levels: Mapping[str, str]) -> str | None:
    """The problem of changed levels (logger → level); None without one."""
    if len(levels) > MAX_LOGGERS:
        return f"levels has {len(levels)} loggers, but at most {MAX_LOGGERS} are allowed"
    for logger, level in levels.items():
        if len(logger) > MAX_NAME or not LOGGER.fullmatch(logger):
            return (
                f"levels has the logger '{logger[:MAX_NAME]}', but a logger has the name of a module, "
                f"such as vivero.engine, with at most {MAX_NAME} characters"
            )
        if level not in LEVELS:
            return f"levels has '{level[:MAX_NAME]}' for {logger}, but a level is one of {', '.join(LEVELS)}"
    return None
