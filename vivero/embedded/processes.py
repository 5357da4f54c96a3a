"""Telling the processes of a data directory apart from everything else that may carry their pids.

A pid in a file proves nothing: after a restart of the machine or the container it may be anybody's. Linux is asked
through /proc, other systems through ps.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_PR_SET_PDEATHSIG = 1
# Loaded here and not between fork and exec, where next to nothing is safe to do.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def is_postmaster(pid: int, data: Path) -> bool:
    """Is `pid` a live postmaster on the data directory `data`? A zombie is not: it has no arguments left."""
    arguments = _arguments(pid) if (_PROC / "self").exists() else _arguments_by_ps(pid)
    return _is_postgres(arguments[0]) and str(data) in arguments


def _arguments(pid: int) -> list[str]:
    """The command line of a process; [""] if there is none."""
    try:
        return [os.fsdecode(argument) for argument in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")]
    except OSError:
        return [""]


def _arguments_by_ps(pid: int) -> list[str]:
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split() or [""]


def is_stopped(pid: int) -> bool:
    """Whether the process stands still until it gets SIGCONT. False for one that is not there."""
    if not (_PROC / "self").exists():
        command = ["ps", "-o", "state=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip().startswith("T")
    try:
        said = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return False
    return said.rpartition(")")[2].split()[0] in "Tt"  # behind the program's name, which may hold anything


def orphaned_backends(data: Path) -> Iterator[int]:
    """Processes of a postmaster on `data` that was killed. They keep its shared memory, so no new one can start.

    They run in the data directory and call themselves "postgres: …", or as the postmaster did if they were just
    forked. Only Linux can tell; elsewhere they are waited for.
    """
    for entry in _PROC.glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(data) and _is_postgres(_arguments(int(entry.name))[0]):
                yield int(entry.name)
        except OSError:
            continue  # it ended meanwhile, or belongs to another user and so is not ours


def _is_postgres(called: str) -> bool:
    return called.startswith("postgres: ") or Path(called).name == "postgres"


def die_with(parent: int, sent: signal.Signals) -> None:
    """Have the kernel send us `sent` when our parent ends (Linux). For use between fork and exec."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(sent))
        if os.getppid() != parent:  # it ended before the kernel was told
            os.kill(os.getpid(), signal.SIGKILL)
