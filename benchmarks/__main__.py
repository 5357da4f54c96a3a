"""Run the benchmarks: `python -m benchmarks [NAME…] [--compare FILE]`, or `--url URL` for a server that runs."""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks import report
from vivero import logs

USUAL = ("core", "append", "engine", "http", "feel", "http_server", "authentication")
"""The benchmarks that run when none is named: under three minutes."""
LARGE = (
    *(
        "connectors",
        "jobs",
        "timers",
        "messages",
        "loops",
        "nested_loops",
        "compensation",
        "capacity",
        "partitions",
        "processes",
        "documents",
        "dry_runs",
        "operations",
        "batches",
    ),
    *(
        "workers",
        "lone",
        "replay",
        "decisions",
        "overload",
        "row_security",
        "console",
        "growth",
        "retention",
        "soak",
        "tracing",
        "metrics",
    ),
)
"""A minute or more each, on up to a million rows: only by name."""
NAMES = USUAL + LARGE
GIVEN = "given"
"""The benchmark of a server that runs somewhere: only with --url."""
DESCRIPTION = "Run the named benchmarks, by default the usual: one JSON line each on stdout, a table each on stderr."


class Parser(argparse.ArgumentParser):
    """Shows in its help what each benchmark measures. Only the help reads the files of all benchmarks."""

    def format_help(self) -> str:
        self.epilog = purposes()
        return super().format_help()


def main(arguments: Sequence[str] | None = None) -> list[str]:
    """Run the named benchmarks, by default the usual: one JSON line each on stdout, a table each on stderr.

    Gives the names of those that failed.
    """
    parser = Parser(
        prog="python -m benchmarks", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark of the lists below")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="JSON lines of an earlier run: print ratios")
    parser.add_argument("--url", metavar="URL", help="measure this server, with the credentials of VIVERO_TOKEN, …")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="how long, with --url: 10")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in NAMES]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    try:
        before = report.read(options.compare) if options.compare else {}
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"{options.compare} cannot be read as the JSON lines of an earlier run: {error}")
    if options.url is not None and options.names:
        parser.error("--url measures the server with clients of its own: give no names")
    logs.configure("console", "warning")  # to stderr: stdout is for the figures
    if options.url is not None:
        measured = _measure(GIVEN, before.get(GIVEN), options.url, options.seconds)
        return [] if measured else [GIVEN]
    return [name for name in options.names or USUAL if not _measure(name, before.get(name))]


def purposes() -> str:
    """The names of all benchmarks, each with the first sentence of its module."""
    width = max(map(len, NAMES))
    lists = {"usual": USUAL, "by name only, a minute or more each": LARGE}
    return "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:{width}}  {_purpose(name)}" for name in names)])
        for title, names in lists.items()
    )


def _purpose(name: str) -> str:
    path = Path(__file__).parent / name
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _measure(name: str, before: report.Figures | None, *arguments: object) -> bool:
    """Run one benchmark and say how it went. One that fails (deadlines, on a busy machine) stops no other."""
    print(f"{name} …", file=sys.stderr, flush=True)
    began = perf_counter()
    try:
        figures, notes = importlib.import_module(f"benchmarks.{name}").run(*arguments)
    except ModuleNotFoundError:
        raise
    except Exception:
        traceback.print_exc()
        return False
    report.show(name, figures, notes | {"took": f"{perf_counter() - began:.0f} s"}, before)
    return True


if __name__ == "__main__":
    sys.exit(", ".join(main()) or None)
