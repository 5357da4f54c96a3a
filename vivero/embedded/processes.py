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
    """Is `pid` a live (not a zombie) postmaster on the data directory `data`?"""
    state, arguments = _process(pid) if (_PROC / "self").exists() else _process_by_ps(pid)
    return state not in {"", "Z"} and Path(arguments[0]).name == "postgres" and str(data) in arguments


def _process(pid: int) -> tuple[str, list[str]]:
    """State and arguments of a process; ("", [""]) if there is none."""
    try:
        # The second field is the program's name in parentheses, and may itself contain spaces and parentheses.
        state = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
        arguments = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except (OSError, IndexError):
        return "", [""]
    return state, [os.fsdecode(argument) for argument in arguments]


def _process_by_ps(pid: int) -> tuple[str, list[str]]:
    listed = subprocess.run(
        ["ps", "-ww", "-o", "stat=", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    return (listed[0][0], listed[1:] or [""]) if listed else ("", [""])


def orphaned_backends(data: Path) -> Iterator[int]:
    """Backends on `data` whose postmaster was killed. They keep its shared memory, which keeps a new one from starting.

    A backend runs in its data directory and calls itself "postgres: …". Only Linux can tell; elsewhere they are
    waited for.
    """
    for entry in _PROC.glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(data) and (entry / "cmdline").read_bytes().startswith(b"postgres: "):
                yield int(entry.name)
        except OSError:
            continue  # it ended meanwhile, or belongs to another user and so is not ours


def die_with(parent: int, sent: signal.Signals) -> None:
    """Have the kernel send us `sent` when our parent ends (Linux). For use between fork and exec."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(sent))
        if os.getppid() != parent:  # it ended before the kernel was told
            os.kill(os.getpid(), signal.SIGKILL)
