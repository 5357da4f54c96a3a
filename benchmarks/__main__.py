"""Run the benchmarks: `python -m benchmarks [NAME…] [--compare FILE]`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report

NAMES = ("core", "append", "engine", "timers", "messages", "http", "feel", "http_server")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the named benchmarks, by default all: one JSON line each on stdout, a table each on stderr."""
    parser = argparse.ArgumentParser(prog="vivero bench", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="JSON lines of an earlier run: print ratios")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in NAMES]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    before = report.read(options.compare) if options.compare else {}
    for name in options.names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures, notes = importlib.import_module(f"benchmarks.{name}").run()
        report.show(name, figures, notes, before.get(name))


if __name__ == "__main__":
    main()
