"""Ways to give a program too little of the machine."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import trio

from vivero.embedded.processes import dying_with_us

BUSY = 25
QUOTA_S = 0.005
PERIOD_S = 0.1
SHORTEST_S, LONGEST_S = 0.02, 1.5
"""The bounds of the times for which a process is stopped."""


async def throttle(pid, choices, share, periods):
    """Stop a process and let it go on, again and again: it runs for that share of the time.

    Afterwards it runs on, whatever happens here.
    """
    try:
        for _ in range(periods):
            stopped_s = min(LONGEST_S, SHORTEST_S * choices.paretovariate(0.7))
            os.kill(pid, signal.SIGSTOP)
            await trio.sleep(stopped_s)
            os.kill(pid, signal.SIGCONT)
            await trio.sleep(stopped_s * share / (1 - share))
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def crowded():
    """Many processes that compute, while the block runs."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=dying_with_us()) for _ in range(BUSY)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


class NoQuota(Exception):
    """This machine does not let us limit a process."""


@contextmanager
def quota(pid):
    """A control group that gives a process a twentieth of a processor. Raises NoQuota."""
    group = _group()
    try:
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for thread in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(thread)
        group.rmdir()


def _group():
    """A new control group with a quota, of whichever version the system has."""
    quota_us, period_us = round(QUOTA_S * 1e6), round(PERIOD_S * 1e6)
    name = f"vivero-test-{os.getpid()}"
    for root, limits in (
        ("/sys/fs/cgroup", {"cpu.max": f"{quota_us} {period_us}"}),
        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": str(period_us), "cpu.cfs_quota_us": str(quota_us)}),
    ):
        group = Path(root) / name
        try:
            group.mkdir()
        except OSError:
            continue
        if all((group / limit).is_file() for limit in limits):  # else the folder is no control group, or has no quotas
            for limit, value in limits.items():
                (group / limit).write_text(value)
            return group
        group.rmdir()
    raise NoQuota("no control group with a quota can be made")
