"""Writes lines in a thread. Whoever logs never waits: not for a full pipe, a slow disk, or a reader that hangs.

Lines wait in memory up to a limit, and what comes beyond it is dropped and counted. Once something can be written
again, a line tells how many were lost.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

MAX_BYTES = 4_000_000
"""Characters that wait at most. Beyond it, lines are dropped."""
STDERR = 2
PAUSE_S = 0.2
"""Between attempts to write after an error, such as a full disk."""
JOINED = 100
"""Lines that are written together."""

Sink = Callable[[bytes], None]
"""Writes all bytes, and may wait for long. Raises OSError."""


def sink(stream: TextIO | None) -> Sink:
    """The stream for lines: `stream`, or stderr. A program without stderr gets one that takes everything."""
    if stream is not None:
        return _to_stream(stream)
    try:
        os.fstat(STDERR)
    except OSError:  # it was closed, and the next file that is opened would get its number, and our lines
        nothing = os.open(os.devnull, os.O_WRONLY)
        if nothing != STDERR:
            os.dup2(nothing, STDERR)
            os.close(nothing)
    return _to_stderr


def is_terminal(stream: TextIO | None) -> bool:
    """Whether people read along."""
    return stream.isatty() if stream is not None else sys.stderr is not None and sys.stderr.isatty()


def _to_stream(stream: TextIO) -> Sink:
    def write(data: bytes) -> None:
        stream.write(data.decode())
        stream.flush()

    return write


def _to_stderr(data: bytes) -> None:
    """By the file's number: `sys.stderr` has a lock, and a thread that waits in it would stop all others."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(STDERR, view) :]
        except BlockingIOError:  # somebody made the shared terminal or pipe non-blocking
            select.select([], [STDERR], [])


class Writer:
    """Lines on their way to a sink."""

    def __init__(self, sink: Sink, tell_lost: Callable[[int], str], max_bytes: int = MAX_BYTES) -> None:
        """`tell_lost(count)` gives the line about lines that were lost."""
        self._sink, self._tell_lost, self._max_bytes = sink, tell_lost, max_bytes
        self._lines: deque[str] = deque()
        self._size = 0
        self._lock = threading.Lock()
        self._more = threading.Condition(self._lock)
        self._written = threading.Condition(self._lock)
        self._busy = False
        self._thread: threading.Thread | None = None
        self.lost = 0
        """Lines that were dropped or could not be written, and that no line has told of."""

    def write(self, line: str) -> None:
        """Write a line later. Never waits, never raises."""
        with self._lock:
            if self._size + len(line) > self._max_bytes:
                self.lost += 1
                return
            self._lines.append(line)
            self._size += len(line)
            if self._thread is None:
                self._start()
            self._more.notify()

    def flush(self, within_s: float) -> None:
        """Wait until all lines are written, or dropped because of an error, but no longer than that."""
        with self._lock:
            self._written.wait_for(lambda: not self._lines and not self._busy, within_s)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
        with suppress(RuntimeError):  # the interpreter ends: nothing is written any more
            self._thread.start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._lock:
                self._more.wait_for(lambda: bool(self._lines))
                taken = [self._lines.popleft() for _ in range(min(len(self._lines), JOINED))]
                self._busy, lost = True, self.lost
            works = self._try(taken, lost)
            with self._lock:
                self._size -= sum(map(len, taken))
                self.lost += -lost if works else len(taken)
                self._busy = False
                self._written.notify_all()
            if not works:
                pause.wait(PAUSE_S)

    def _try(self, taken: list[str], lost: int) -> bool:
        """Whether the lines are written. If not, they are lost: what is full stays full, and memory has a limit."""
        lines = [self._tell_lost(lost), *taken] if lost else taken
        try:
            self._sink("".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))
        except (OSError, ValueError):
            return False
        return True
