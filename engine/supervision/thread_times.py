"""The times of a thread as the kernel counts them, read from another thread."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class ThreadTimes(NamedTuple):
    """Seconds of a thread since it began."""

    computed_s: float = 0.0
    """On a processor."""
    queued_s: float = 0.0
    """Ready, and waiting for a processor: other programs had them, or a quota was used up."""


def times_of_this_thread() -> Callable[[], ThreadTimes]:
    """A function that reads the times of the calling thread, for other threads.

    Linux counts both times. Other systems tell the CPU time of the thread at most, and no time in the queue.
    """
    path = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    if _read(path) is not None:
        return lambda: _read(path) or ThreadTimes()
    if hasattr(time, "pthread_getcpuclockid"):
        clock = time.pthread_getcpuclockid(threading.get_ident())
        return lambda: ThreadTimes(time.clock_gettime(clock))
    return lambda: ThreadTimes(sum(os.times()[:2]))


def _read(path: Path) -> ThreadTimes | None:
    """None without the statistics of the scheduler (CONFIG_SCHED_INFO)."""
    try:
        computed_ns, queued_ns, _turns = map(int, path.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return None
    return ThreadTimes(computed_ns / 1e9, queued_ns / 1e9)
