"""The level of each logger, which can change while the program runs.

A logger has the name of its module. The level of the longest beginning of its name counts: `vivero.engine` is for all
of the engine, and the level without a name for everything else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import structlog

from vivero.core.texts.fields import listed
from vivero.engine.log_levels import LEVELS as NAMES
from vivero.engine.log_levels import LOGGER

NUMBERS = {name: logging.getLevelNamesMapping()[name.upper()] for name in NAMES}
OF_LIBRARIES = logging.WARNING
"""The level of loggers that are not ours, unless a level names them."""
OURS = "vivero"


def parse(text: str) -> dict[str, str]:
    """Levels by logger from `name=level,name=level`. Raises ValueError."""
    levels = {}
    for part in listed(text):
        name, _, level = (one.strip() for one in part.partition("="))
        if not LOGGER.fullmatch(name) or level not in NAMES:
            raise ValueError(f"expected logger=level with one of {', '.join(NAMES)}, not '{part}'")
        levels[name] = level
    return levels


class Named:
    """A logger by name: the level from which it writes, and where to."""

    __slots__ = ("name", "threshold", "write")

    def __init__(self, name: str, threshold: int, write: Callable[[str], None]) -> None:
        self.name, self.threshold, self.write = name, threshold, write

    def msg(self, line: str) -> None:
        """The processors have made a line of an event."""
        self.write(line)

    debug = info = warning = error = critical = msg


class Logger(structlog.BoundLoggerBase):
    """The logger that `structlog.get_logger(__name__)` gives. A line below the level costs a comparison."""

    def debug(self, event: str, **fields: Any) -> None:
        if self._logger.threshold <= logging.DEBUG:
            self._proxy_to_logger("debug", event, **fields)

    def info(self, event: str, **fields: Any) -> None:
        if self._logger.threshold <= logging.INFO:
            self._proxy_to_logger("info", event, **fields)

    def warning(self, event: str, **fields: Any) -> None:
        if self._logger.threshold <= logging.WARNING:
            self._proxy_to_logger("warning", event, **fields)

    def error(self, event: str, **fields: Any) -> None:
        self._proxy_to_logger("error", event, **fields)

    def exception(self, event: str, **fields: Any) -> None:
        """An error, with the exception that is handled at the moment."""
        self._proxy_to_logger("error", event, **{"exc_info": True} | fields)


class Levels:
    """All loggers and their levels: as configured, as changed at run time, and everything if somebody asked for it."""

    def __init__(self) -> None:
        self._loggers: dict[str, Named] = {}
        self._configured: dict[str, int] = {"": logging.INFO}
        self._changed: dict[str, int] = {}
        self.everything = False
        """Whether all of our loggers write from `debug` on, whatever else was said."""

    def begin(self, level: str, levels: Mapping[str, str]) -> None:
        """Set the levels of the settings. Forget all changes and all loggers."""
        self._configured = {"": NUMBERS[level]} | {name: NUMBERS[one] for name, one in levels.items()}
        self._changed, self.everything = {}, False
        self._loggers.clear()

    def logger(self, name: str, write: Callable[[str], None]) -> Named:
        """The logger with this name. It follows later changes."""
        found = self._loggers.get(name)
        if found is None:
            found = self._loggers[name] = Named(name, self.threshold(name), write)
        return found

    def change(self, levels: Mapping[str, str]) -> bool:
        """Replace all changes by these. Whether that is another set than before."""
        changed = {name: NUMBERS[level] for name, level in levels.items()}
        if changed == self._changed:
            return False
        self._changed = changed
        self._apply()
        return True

    def set_everything(self, everything: bool) -> None:
        """Let all of our loggers write from `debug` on, or no longer."""
        self.everything = everything
        self._apply()

    def threshold(self, name: str) -> int:
        """The number of the level from which a logger writes."""
        ours = name.partition(".")[0] == OURS
        if self.everything and ours:
            return logging.DEBUG
        levels = self._configured | self._changed
        prefix = name
        while prefix:
            if prefix in levels:
                return levels[prefix]
            prefix = prefix.rpartition(".")[0]
        return levels[""] if ours else max(levels[""], OF_LIBRARIES)

    def _apply(self) -> None:
        for name, logger in self._loggers.items():
            logger.threshold = self.threshold(name)


LEVELS = Levels()
"""The levels of this process."""
