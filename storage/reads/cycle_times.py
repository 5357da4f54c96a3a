"""Cycle times: the durations of the instances of each version of a process, from histograms by day (UTC)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.state.durations import percentiles

MAX_VERSIONS = 20
"""The newest versions of a process that have figures."""

_of_tenants = TenantStatements(__file__)


class CycleTime(NamedTuple):
    """The number of completed instances, and the durations in ms that a half and nine tenths do not exceed."""

    completed: int
    median_ms: int
    percentile_90_ms: int


class VersionTimes(NamedTuple):
    """The cycle times of a version: in all days, and in each day (UTC) in which any instance completed."""

    definition_key: int
    version: int
    in_all: CycleTime
    by_day: Sequence[tuple[datetime, CycleTime]]


async def of_versions(
    connection: Connection, key: int, begins: datetime, days: int, tenants: Tenants = None
) -> list[VersionTimes]:
    """The cycle times of the newest versions with completed instances, the newest first. `key`: of any version.

    All days (UTC) count that the time touches: `days` times 24 hours from `begins` on.
    """
    found = await _of_tenants.execute(connection, "cycle_times", tenants, key, begins, days, MAX_VERSIONS)
    return [_version(key, version, rows) for (key, version), rows in groupby(found.rows, lambda row: row[:2])]


def _version(key: int, version: int, rows: Iterable[Sequence[Any]]) -> VersionTimes:
    total, days = Counter[int](), list[tuple[datetime, CycleTime]]()
    for day, of_day in groupby(rows, lambda row: row[2]):
        histogram = Counter({bucket: completed for *_, bucket, completed in of_day})
        total += histogram
        days.append((day, _time(histogram)))
    return VersionTimes(key, version, _time(total), days)


def _time(histogram: Counter[int]) -> CycleTime:
    median, most = percentiles(histogram.items(), (0.5, 0.9))
    return CycleTime(histogram.total(), median, most)
