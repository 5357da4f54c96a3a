"""Figures of the whole database for people: the backlog, what runs and waits, the size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.storage.postgres.errors import StorageError
from vivero.storage.reads import status_figures
from vivero.storage.reads.figures import Rows


async def get(_request: Request, services: Services) -> Response:
    """GET /cluster/figures: of all partitions and nodes. What takes too long is null, and counts end at MAX_COUNT."""
    groups = {name: await _rows(services, name) for name in GROUPS}
    found = {name: None if rows is None else GROUPS[name](rows) for name, rows in groups.items()}
    return json_response({"maxCount": status_figures.MAX_COUNT, **found})


async def _rows(services: Services, group: str) -> Rows | None:
    try:
        return await read(services, lambda connection: status_figures.read(connection, group))
    except StorageError:
        return None


def _backlog(rows: Rows) -> list[dict[str, Any]]:
    names = ("partitionId", "hasLeader", "commands", "seconds")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _jobs(rows: Rows) -> dict[str, int]:
    found = dict.fromkeys(("ready", "leased", "backoff", "failed"), 0)
    for state, count in rows:
        found[state] = count
    return found


def _timers(rows: Rows) -> dict[str, Any]:
    ((pending, due_in_s),) = rows
    return {"pending": pending, "overdueSeconds": max(-(due_in_s or 0.0), 0.0)}


def _retention(rows: Rows) -> list[dict[str, Any]]:
    names = ("partitionId", "behindSeconds", "deleted", "secondsSinceRun", "overdueSeconds", "archiveAwaySeconds")
    return [
        dict(zip(names, row, strict=False))
        | {"logsKeptBy": row[7] if row[6] else None, "deletedByLastRun": row[8]}
        | {"overdueKey": None if row[9] is None else str(row[9]), "overdueBecauseOf": row[10]}
        for row in rows
    ]


GROUPS: Mapping[str, Callable[[Rows], Any]] = {
    "partitions": _backlog,
    "instances": lambda rows: {"running": rows[0][0]},
    "jobs": _jobs,
    "incidents": lambda rows: {"active": rows[0][0]},
    "timers": _timers,
    "waiting": lambda rows: {"messages": rows[0][0], "userTasks": rows[0][1]},
    "retention": _retention,
    "server": lambda rows: {"databaseBytes": rows[0][0]},
}
"""The groups of `storage.reads.status_figures` that are shown, and what their rows become."""
