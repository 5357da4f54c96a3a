"""The figures of `vivero top --processes`: all processes of a program together, and a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vivero.terminal.top import REQUESTS, Between, cpu, figures, leads, memory

COLUMNS = ("process", "health", "leads", "commands/s", "requests/s", "clients", "CPU", "memory", "restarts")
"""The fields of a process. All but the first two are empty if the process gives no metrics."""


def rows(between: Between, processes: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The rows of all processes together, in order: a name, and figures.

    `processes` are those of `GET /status` of the admin port.
    """
    healthy = sum(process["healthy"] for process in processes)
    return [("processes", f"{healthy} of {len(processes)} healthy, lead {leads(between.last)}"), *figures(between)]


def lines(between: Between, processes: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The fields of each process: what `COLUMNS` names."""
    return [_line(between, process) for process in processes]


def _line(between: Between, process: Mapping[str, Any]) -> dict[str, str]:
    node = process.get("node", "")
    known = dict.fromkeys(COLUMNS, "") | {
        "process": process["name"],
        "health": "healthy" if process["healthy"] else "no answer" if "problem" in process else "unhealthy",
    }
    if node not in between.last.nodes:
        return known
    own = between.of(node)
    return known | {
        "leads": f"{own.last.sum('vivero_engine_leads'):,.0f}",
        "commands/s": f"{own.rate('vivero_commands_total'):,.0f}",
        "requests/s": f"{own.rate(f'{REQUESTS}_count'):,.0f}",
        "clients": f"{own.last.sum('vivero_http_connections'):,.0f}",
        "CPU": f"{cpu(own):.0%}",
        "memory": memory(own.last),
        "restarts": f"{own.last.sum('vivero_child_restarts_total'):,.0f}",
    }
