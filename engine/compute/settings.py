"""Settings of the compute processes."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ComputeSettings:
    """The number of compute processes, and the cost that one task may have."""

    processes: int = 0
    """Compute processes of each process; one more serves the engine. 0: half of the processors, at least 1 and at most
    4, which several processes of one program share. Tasks wait, and their kinds take turns.
    """
    max_waiting: int = 100
    """Tasks that may wait for a compute process, for `api.response_timeout_s` each. Further requests get 503."""
    cpu_s: int = 30
    """CPU time of one task. Beyond it the process ends, and the request gets 400; a deployed file counts as unreadable.
    """
    task_s: float = 120.0
    """Time of one task altogether, for a machine that gives little CPU time."""
    memory_bytes: int = 256 * 1024 * 1024
    """Memory of one compute process. The largest deployment takes 150 MB. Only Linux has such a limit."""
    idle_s: float = 60.0
    """Time after which an idle compute process ends."""

    def __post_init__(self) -> None:
        if self.processes < 0:
            raise ValueError("processes must be at least 0")
        if min(self.max_waiting, self.cpu_s, self.task_s) < 1:
            raise ValueError("max_waiting, cpu_s and task_s must be at least 1")
        if self.memory_bytes < 128 * 1024 * 1024:
            raise ValueError("memory_bytes must be at least 134217728, which a compute process needs itself")

    def places(self, program_processes: int) -> int:
        """The compute processes of one of the program's processes."""
        if self.processes:
            return self.processes
        return max(1, min(4, processors() // (2 * program_processes)))


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
