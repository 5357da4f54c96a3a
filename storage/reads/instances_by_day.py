"""The process instances that began and ended day by day, and the incidents. They are for a chart.

Nothing counts while the engine runs: the numbers are those of the rows that are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

MAX_COUNTED = 100_000
"""Each figure of a day is counted up to this number."""

_of_tenants = TenantStatements(__file__)


class Day(NamedTuple):
    """24 hours. Each figure is at most `MAX_COUNTED`."""

    begins: datetime
    started: int
    ended: int
    incidents: int


async def by_day(
    connection: Connection, begins: datetime, days: int, tenants: Tenants = None, most: int = MAX_COUNTED
) -> Sequence[Day]:
    """The figures of this many days from a moment on, in their order."""
    found = await _of_tenants.execute(connection, "instances_by_day", tenants, begins, days, most)
    return [Day(*row) for row in found.rows]
