"""Long runs of chaos by hand, with a table of figures: `make chaos`, `make chaos ARGS="kills --rounds 20"`."""

import argparse
import os
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random, SystemRandom

import trio

from tests.chaos.faults import BY_NAME, OF_CHILDREN
from tests.chaos.figures import table
from tests.chaos.overload import overload
from tests.chaos.runs import run

RUNS = {
    "kills": (("kill -9 of the leader",), 200),
    "kills-alone": (("kill -9 of a program alone",), 50),
    "commits": (("lost acknowledgements of batches", "lost acknowledgements of appends"), 500),
    "split-brains": (("SIGSTOP of the leader", "SIGSTOP in a half-sent pipeline"), 25),
    "network": (
        ("black hole", "reset connections", "delayed packets", "late delivery", "notification listener cut off"),
        10,
    ),
    "postgresql": (
        ("every session terminated", "immediate restart of PostgreSQL", "idle transactions", "held locks",
         "slow commits"),
        10,
    ),
    "standby": (("kill -9 of the standby",), 20),
    "children": (tuple(fault.name for kind in ("raise", "cancel") for fault in OF_CHILDREN[kind]), 50),
    "hangs": (tuple(fault.name for fault in OF_CHILDREN["hang"]), 10),
}  # fmt: skip
"""Name → its faults, and how often each must bite."""
OVERLOAD, OVERLOAD_S = "overload", 60

progress = partial(print, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="run", help=f"of {', '.join(RUNS)}, overload; default: all")
    parser.add_argument("--rounds", type=int, help="how often each fault must bite; of the overload: its seconds")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(2**31))
    chosen = parser.parse_args()
    unknown = set(chosen.runs) - {*RUNS, OVERLOAD}
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    print(f"seed {chosen.seed}, {os.cpu_count()} cores", flush=True)
    for name in chosen.runs or (*RUNS, OVERLOAD):
        _one(name, chosen)


def _one(name, chosen):
    directory = Path(tempfile.mkdtemp(prefix=f"vivero-test-{os.getpid()}-", dir=_memory()))
    directory.chmod(0o711)
    logs = Path(tempfile.mkdtemp(prefix="vivero-chaos-"))
    print(f"\n{name}: logs of the nodes in {logs}", flush=True)
    try:
        _overload(directory, logs, chosen) if name == OVERLOAD else _faults(name, directory, logs, chosen)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _overload(directory, logs, chosen):
    result = trio.run(overload, directory, logs, chosen.rounds or OVERLOAD_S, progress)
    print("\n".join(result.lines()), flush=True)


def _faults(name, directory, logs, chosen):
    names, rounds = RUNS[name]
    faults = [BY_NAME[each] for each in names]
    nodes = 1 if all(fault.nodes == 1 for fault in faults) else max(2, chosen.nodes)
    result = trio.run(
        partial(
            run, faults, chosen.rounds or rounds, Random(chosen.seed), directory, logs,
            nodes=nodes, partitions=chosen.partitions, say=progress,
        )
    )  # fmt: skip
    print(f"\n{table(result.figures)}\n")
    print(f"{result.instances} instances; {result.ledger}", flush=True)
    print(f"replay gives the same {result.rows} rows; 0 lost, 0 twice")
    print(f"longest time without an answer while the first node was healthy: {result.silence_s:.2f} s", flush=True)


def _memory():
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


if __name__ == "__main__":
    main()
