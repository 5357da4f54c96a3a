"""Process instances day by day: those that began, ended and failed, and those that ran at the end of the day.

The batches keep the counts (`storage.state.save`), so retention takes nothing away.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

MAX_DAYS = 62
"""Days that one question may ask for, and for which the number of running instances is known afterwards."""

_of_tenants = TenantStatements(__file__)


class Day(NamedTuple):
    """24 hours. `running`: at the end, or now if it has not ended; None for a day that is too long ago."""

    begins: datetime
    started: int
    completed: int
    terminated: int
    incidents: int
    running: int | None


async def by_day(
    connection: Connection, begins: datetime, days: int, processes: Collection[str] | None, tenants: Tenants = None
) -> Sequence[Day]:
    """The figures of up to `MAX_DAYS` days from a moment on, in their order. `processes`: their ids; None for all."""
    ids = None if processes is None else sorted(processes)
    found = {row[0]: row[1:] for row in await _rows(connection, "instances_by_day", tenants, begins, days, ids)}
    ends = begins + timedelta(days=days)
    ((running, since),) = await _rows(connection, "running", tenants, ends, MAX_DAYS, ids)
    left = None if since is None else running - since
    result = list[Day]()
    for day in range(days - 1, -1, -1):
        at = begins + timedelta(days=day)
        started, completed, terminated, incidents = found.get(at, (0, 0, 0, 0))
        result.append(Day(at, started, completed, terminated, incidents, None if left is None else max(left, 0)))
        left = None if left is None else left - started + completed + terminated
    return result[::-1]


async def _rows(connection: Connection, name: str, tenants: Tenants, *values: object) -> Sequence[Sequence[Any]]:
    return (await _of_tenants.execute(connection, name, tenants, *values)).rows
