"""The latest change of an instance tree, and what its undo depends on. All reads see the same moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from vivero.core.records.base import Event
from vivero.core.records.codec import decode_events, encode_events
from vivero.core.undos.inverse import Surroundings, instances_of
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.state.snapshots import ONE_MOMENT

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)

LATEST_ROWS = 100
"""Rows of the event log that the latest command may have: it and its follow-ups, and quanta of deferred work."""
EARLIER_ROWS = 50
"""Rows of the event log before it."""
MOST_OPEN = 10_000
"""Open jobs of the process instances of an operation."""


class HasEnded(Exception):
    """The process instance has ended, and no end can be taken back."""


class LatestChange(NamedTuple):
    """The events of the latest command that changed a tree, and what is there now. `version`: of the tree.

    `is_whole`: there is nothing beyond the limits. Otherwise the rest is missing. `is_logged`: the log has the command.
    """

    version: int
    events: Sequence[Event]
    around: Surroundings
    is_whole: bool
    is_logged: bool


async def latest_change(connection: Connection, key: int, tenants: Tenants = None) -> LatestChange | None:
    """The latest change of the tree of a process instance; None if these tenants have no such instance.

    Raises:
        HasEnded: the instance does not run any more.
    """
    async with connection.transaction(ONE_MOMENT):
        found = (await _of_tenants.execute(connection, "tree", tenants, key)).rows
        if not found:
            return None
        root, version, has_ended = found[0]
        if has_ended:
            raise HasEnded
        rows = [_Row(*row) for row in (await connection.execute(_sql["latest"], (root, LATEST_ROWS + 1))).rows]
        latest = _of_last_request(rows)
        first = (latest[0].position, latest[0].seq) if latest else (0, 0)
        earlier = (await connection.execute(_sql["earlier"], (root, *first, EARLIER_ROWS))).rows
        events = _events((row.events, row.version) for row in latest)
        jobs = (await connection.execute(_sql["jobs"], (list(instances_of(events)), MOST_OPEN + 1))).rows
    around = Surroundings(tuple(sorted(job for (job,) in jobs)), _events(reversed(earlier)))
    is_whole = len(latest) <= LATEST_ROWS and len(jobs) <= MOST_OPEN
    return LatestChange(version, events, around, is_whole, bool(latest))


class _Row(NamedTuple):
    """A row of the event log. `events`: JSON."""

    position: int
    seq: int
    request: int
    events: bytes
    version: int


def _of_last_request(rows: Sequence[_Row]) -> list[_Row]:
    """The last rows of a position that follow from one request, in their order. `rows`: the last one first.

    Commands that a migration has held share a position, and each of them is a change. An answer has no events.
    """
    last = next((row.request for row in rows if row.events != NO_EVENTS), None)
    return list(takewhile(lambda row: row.request == last or row.events == NO_EVENTS, rows))[::-1]


NO_EVENTS = encode_events([])


def _events(rows: Iterable[tuple[Any, ...]]) -> list[Event]:
    return [event for events, format in rows for event in decode_events(events, format)]


async def taken_job(connection: Connection, jobs: Sequence[int]) -> int | None:
    """The first of these jobs that a worker has, or has had."""
    rows = (await connection.execute(_sql["taken"], (list(jobs),))).rows if jobs else []
    return rows[0][0] if rows else None


HAD_WORKER = "a worker had got job '{}', which it has terminated, and may still work"
"""The reason why a job with a worker prevents an undo."""


async def job_with_worker(connection: Connection, jobs: Sequence[int]) -> int | None:
    """The first of these ended jobs that a worker had got."""
    rows = (await connection.execute(_sql["had_worker"], (list(jobs),))).rows if jobs else []
    return rows[0][0] if rows else None
