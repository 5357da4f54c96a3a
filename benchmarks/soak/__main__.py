"""A soak of any length: `python -m benchmarks.soak --hours 24 --rate 100 --dir DIR`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import trio

from benchmarks import report, soak
from vivero import logs


def main() -> int:
    """Run the soak. The exit code is 1 if anything was lost, twice, or unexpected."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=soak.__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="for data, logs of the programs and samples.jsonl")
    parser.add_argument("--hours", type=float, default=1.0, help="the length of the load (1)")
    parser.add_argument("--rate", type=float, default=100.0, help="instances a second (100)")
    parser.add_argument("--fault-minutes", type=float, default=10.0, help="the time between two faults (10)")
    parser.add_argument("--retention-minutes", type=int, default=5, help="the time for which ended instances stay (5)")
    given = parser.parse_args()
    logs.configure("console", "warning")  # to stderr: stdout is for the figures
    options = soak.Options(given.dir, given.hours, given.rate, given.fault_minutes, given.retention_minutes)
    figures, notes = trio.run(soak.soak, options)
    report.show("soak", figures, notes)
    return int(any(figures[name] for name in ("findings", "unanswered", "not_ended", "unexpected")))


if __name__ == "__main__":
    sys.exit(main())
