"""The processes of a data directory.

A pid in a file proves nothing, because after a restart of the machine or container another process may have it. The
functions read /proc on Linux and call ps on other systems.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

_PROC = Path("/proc")
_PR_SET_PDEATHSIG = 1
# Loaded here because hardly any call is safe between fork and exec.
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def is_postmaster(pid: int, data: Path) -> bool:
    """True if `pid` is a live postmaster on the data directory `data`. A zombie has no arguments and does not count."""
    arguments = _arguments(pid) if (_PROC / "self").exists() else _arguments_by_ps(pid)
    return _is_postgres(arguments[0]) and str(data) in arguments


def _arguments(pid: int) -> list[str]:
    """The command line of a process; [""] if there is no such process."""
    try:
        return [os.fsdecode(argument) for argument in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")]
    except OSError:
        return [""]


def _arguments_by_ps(pid: int) -> list[str]:
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split() or [""]


def is_stopped(pid: int) -> bool:
    """True if the process is stopped until it gets SIGCONT. False if there is no such process."""
    if not (_PROC / "self").exists():
        command = ["ps", "-o", "state=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip().startswith("T")
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] in "Tt"  # after the program's name, which may contain any character


def orphaned_backends(data: Path) -> Iterator[int]:
    """Yield the processes of a killed postmaster on `data`. They hold its shared memory, so no new one can start.

    They run in the data directory and have the name "postgres: …", or the postmaster's name right after the fork. Only
    Linux can list them; on other systems the caller waits until they end.
    """
    for entry in _PROC.glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == str(data) and _is_postgres(_arguments(int(entry.name))[0]):
                yield int(entry.name)
        except OSError:
            continue  # the process has ended, or belongs to another user


def _is_postgres(name: str) -> bool:
    return name.startswith("postgres: ") or Path(name).name == "postgres"


def dying_with_us(sent: signal.Signals = signal.SIGKILL) -> Callable[[], None]:
    """The `preexec_fn` of a child that must not outlive this process, even if it is killed (Linux).

    The kernel sends `sent` when the *thread* that starts the child ends. The thread must therefore be the main one: a
    child that Trio's `open_process` starts, in a thread that ends when it is idle, holds a pipe or socket instead.
    """
    return partial(die_with, os.getpid(), sent)


def die_with(parent: int, sent: signal.Signals) -> None:
    """Request that the kernel sends this process `sent` when its parent ends (Linux). For use between fork and exec."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(sent))
        if os.getppid() != parent:  # the parent ended before the request
            os.kill(os.getpid(), signal.SIGKILL)
