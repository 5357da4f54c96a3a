"""The report of a benchmark: one JSON line, and a table with the machine it ran on."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

Figures = Mapping[str, float]


def machine() -> dict[str, str]:
    """The conditions of the figures besides the program."""
    return {
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "processor": _processor(),
        "system": platform.platform(terse=True),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        "psycopg": version("psycopg"),
        "trio": version("trio"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def show(name: str, figures: Figures, notes: Mapping[str, str], before: Figures | None = None) -> None:
    """Print the JSON line to stdout, and the table to stderr. `before`: figures of another run, for ratios."""
    print(json.dumps({"benchmark": name, "figures": figures, "machine": machine(), "notes": notes}), flush=True)
    table = Table(title=name, title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    if before is not None:
        table.add_column("before", justify="right")
        table.add_column("ratio", justify="right")
    for figure, value in figures.items():
        row = [figure, f"{value:,.2f}" if value < 100 else f"{value:,.0f}"]
        if before is not None:
            old = before.get(figure)
            row += ["-" if old is None else f"{old:,.2f}", "-" if not old else f"{value / old:.2f}"]
        table.add_row(*row)
    for note, text in {**machine(), **notes}.items():
        table.add_row(f"[dim]{note}[/]", f"[dim]{text}[/]")
    Console(file=sys.stderr).print(table)


def read(path: Path) -> dict[str, dict[str, float]]:
    """The figures of an earlier run, by benchmark, from a file of JSON lines."""
    found = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("{"))
    return {line["benchmark"]: line["figures"] for line in found if "benchmark" in line}
