"""The connections of each process, counted in shared memory, so that the processes take equal shares of them.

All processes accept from the same listening sockets. Without this, the process that wakes first takes a whole burst of
connections, and clients keep their connections for long.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import BinaryIO

_SIZE = 4
NOT_SERVING = -1
SLACK = 8
"""A process may be ahead by one connection in so many, at least by one. More turns would slow down a burst."""


def create(count: int) -> BinaryIO:
    """A file without a name for the counts of so many processes, which inherit its descriptor."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    file.truncate(count * _SIZE)
    counts = ConnectionCounts(file.fileno(), count, 0)
    for process in range(count):
        counts.clear(process)
    return file


class ConnectionCounts:
    """The counts of all processes, seen by one of them."""

    def __init__(self, descriptor: int, count: int, process: int) -> None:
        """`process`: the index of this process."""
        self._counts = memoryview(mmap.mmap(os.dup(descriptor), count * _SIZE)).cast("i")
        self._process = process

    def others_first(self, connections: int) -> bool:
        """Publish this process's count. Whether another process should accept the next connection."""
        counts = self._counts
        counts[self._process] = connections
        fewest = min(count for count in counts if count != NOT_SERVING)
        return connections > fewest + max(0, connections // SLACK - 1)

    def clear(self, process: int) -> None:
        """The process does not serve: nobody waits for it."""
        self._counts[process] = NOT_SERVING
