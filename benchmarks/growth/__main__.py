"""Growth step by step, on a database that stays: `python -m benchmarks.growth STEP… --data-dir DIR`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import trio

from benchmarks import report
from benchmarks.growth import STEPS, Options, steps
from vivero import logs

DESCRIPTION = """Fill a database with ended instances, and measure on it. The steps: real (instances over HTTP), fill
(copies of them; continues where it was stopped), check (copies against real ones), sizes, start, load, searches. One
JSON line a step on stdout, a table on stderr."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the named steps."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=DESCRIPTION)
    parser.add_argument("steps", nargs="+", choices=list(STEPS), metavar="STEP", help=", ".join(STEPS))
    parser.add_argument("--data-dir", type=Path, required=True, help="where the database is, or will be")
    parser.add_argument("--instances", type=int, default=3_000_000, help="copies (3,000,000)")
    parser.add_argument("--real", type=int, default=10_000, help="real instances (10,000)")
    parser.add_argument("--rounds", type=int, default=100, help="requests of each search (100)")
    parser.add_argument("--shared-buffers", default="128MB", help="of PostgreSQL (128MB)")
    parser.add_argument("--only", default="", help="searches that contain this text")
    given = parser.parse_args(arguments)
    logs.configure("console", "warning")  # to stderr: stdout is for the figures
    options = Options(given.data_dir, given.instances, given.real, given.rounds, given.shared_buffers, given.only)
    for name, figures, notes in trio.run(steps, given.steps, options):
        report.show(f"growth: {name}", figures, notes)


if __name__ == "__main__":
    main()
