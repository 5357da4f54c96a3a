"""Log lines of libraries and of the user's own jobs, which use Python's `logging`, in the program's own form."""

from __future__ import annotations

import logging
from collections.abc import Callable

from vivero.logs.levels import Named
from vivero.logs.lines import Event, Processors


class Forward(logging.Handler):
    """Makes a line of each record. Libraries write from `warning` on, unless a level names their logger."""

    def __init__(self, processors: Processors, logger: Callable[[str], Named]) -> None:
        super().__init__()
        self._processors, self._logger = processors, logger

    def emit(self, record: logging.LogRecord) -> None:
        named = self._logger(record.name)
        if record.levelno < named.threshold:
            return
        (make,) = self._processors
        named.write(str(make(named, _method(record.levelno), self._event(record))))

    def _event(self, record: logging.LogRecord) -> Event:
        try:
            text = record.getMessage()
        except Exception as error:  # its arguments do not fit: logging tells that on stderr, and so may wait
            text = f"{record.msg} ({type(error).__name__} in its arguments)"
        return {"event": text} | ({"exc_info": record.exc_info} if record.exc_info else {})


def _method(number: int) -> str:
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warning"
    return "info" if number >= logging.INFO else "debug"
