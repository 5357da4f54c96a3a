"""Numbers of jobs that were created, completed and failed in a time, by type, worker, period and error.

The engine counts in periods of five minutes (`job_counts`). Errors are those that jobs have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.timers import parse_interval
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.fields import NUMBER, OTHER, SORTED_PREFIX, TEXT, TIME, Field, filtered, plain
from vivero.storage.search.filters import matching
from vivero.storage.search.groups import Groups, require
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Invalid, Unparsable
from vivero.storage.search.resources import Resource, SpecialFilter

PERIOD_S = 300
"""The length of a period in which jobs are counted."""
WORKER_CHARACTERS = 200
"""Longer names of workers are cut when jobs are counted (`storage/state/save.sql`)."""


def _moment(condition: str, value: Any, path: str, parameters: Parameters) -> str:
    """A condition with the place of a time."""
    try:
        return condition.format(parameters.add(TIME.read(value), TIME.cast))
    except ValueError as error:
        raise Unparsable(path) from error


_PERIODS: Mapping[str, SpecialFilter] = {
    "from": partial(_moment, "c.period >= job_period({})"),
    "to": partial(_moment, "c.period < {}"),
}
"""The first period begins at `from` or before it, the last one before `to`."""


def _rows(type: Field, visible: str = "true") -> Resource:
    fields = type, Field("tenantId", "c.tenant_id", TEXT)
    return Resource("Job", "counted_jobs c", "c.period", fields, visible, _PERIODS)


def _metric(status: str) -> str:
    """The number of jobs of a status, and the time of the last one, as the API shows them."""
    ones = f"FILTER (WHERE c.status = '{status}')"
    last = TIME.shown.format(f"(max(c.last_at) {ones})")
    return f"json_build_object('count', coalesce(sum(c.jobs) {ones}, 0), 'lastUpdatedAt', {last})"


_NAMES = ("created", "completed", "failed")
_METRICS = ", ".join(f"{_metric(name.upper())} AS {name}" for name in _NAMES)
_WORKERS = "count(DISTINCT c.worker) FILTER (WHERE c.worker <> '') AS workers"
_SHOWN = tuple(Field(name, f"g.{name}", OTHER) for name in _NAMES)
_TYPE = plain("jobType", "c.type", TEXT)
_IN_TIME = ("from", "to")


def _text(name: str, sql: str) -> Field:
    return Field(name, sql, TEXT, sort=True, sort_sql=f"left({sql}, {SORTED_PREFIX})")


BY_TYPE = Groups(
    _rows(filtered("jobType", "c.type", TEXT)),
    lambda rows, _: f"SELECT c.type, {_METRICS}, {_WORKERS} FROM {rows} GROUP BY c.type",
    Resource(
        "Statistics",
        "g",
        "md5(g.type)",
        (_text("jobType", "g.type"), *_SHOWN, Field("workers", "g.workers", NUMBER)),
        key_type=TEXT,
    ),
    (("jobType", False),),
    _IN_TIME,
)
"""For each type: its jobs, and how many workers completed some or let some fail."""

BY_WORKER = Groups(
    _rows(_TYPE, "c.worker <> ''"),
    lambda rows, _: f"SELECT c.worker, {_METRICS} FROM {rows} GROUP BY c.worker",
    Resource("Statistics", "g", "md5(g.worker)", (_text("worker", "g.worker"), *_SHOWN), key_type=TEXT),
    (("worker", False),),
    (*_IN_TIME, "jobType"),
)
"""For each worker: the jobs of one type that it completed, and those that it let fail."""

LONGEST_S = 10 * 366 * 86_400


def _by_time(rows: str, filter: Mapping[str, Any]) -> str:
    length = f"make_interval(secs => {_resolution_s(filter)})"
    return f"SELECT date_bin({length}, c.period, 'epoch') AS time, {_METRICS} FROM {rows} GROUP BY 1"


def _resolution_s(filter: Mapping[str, Any]) -> int:
    """The length of an interval: a multiple of the period. Without a `resolution`, a hundredth of the time."""
    value = filter.get("resolution")
    if value is None:
        wanted: float = (TIME.read(filter["to"]) - TIME.read(filter["from"])).total_seconds() / 100
    else:
        wanted = _seconds(value)
    return max(1, math.ceil(min(wanted, LONGEST_S) / PERIOD_S)) * PERIOD_S


def _seconds(resolution: Any) -> float:
    try:
        interval = parse_interval(resolution)
    except (TemporalError, TypeError) as error:
        raise Unparsable("filter.resolution") from error
    if interval.months or not interval.is_positive:
        raise Invalid("The value for filter.resolution must be a positive duration in weeks, days or smaller units")
    return interval.days * 86_400 + interval.nanos / 1e9


def _no_condition(_value: Any, _path: str, _parameters: Parameters) -> str:
    return "true"


BY_TIME = Groups(
    replace(_rows(_TYPE), special={**_PERIODS, "resolution": _no_condition}),
    _by_time,
    Resource("Statistics", "g", "extract(epoch FROM g.time)::bigint", (Field("time", "g.time", TIME), *_SHOWN)),
    (),
    (*_IN_TIME, "jobType"),
)
"""The jobs of one type in intervals, the oldest first. Intervals without jobs are left out."""

BY_ERROR = Groups(
    Resource(
        "Job",
        "jobs j",
        "j.job_key",
        (
            plain("jobType", "j.type", TEXT),
            filtered("errorCode", "coalesce(j.error_code, '')", TEXT),
            filtered("errorMessage", "coalesce(j.error_message, '')", TEXT),
            Field("tenantId", "j.tenant_id", TEXT),
            Field("processDefinitionId", "j.process_id", TEXT),
        ),
        "j.error_code IS NOT NULL OR j.error_message IS NOT NULL",
        {"from": partial(_moment, "j.updated_at >= {}"), "to": partial(_moment, "j.updated_at < {}")},
    ),
    lambda rows, _: (
        f"""
    SELECT coalesce(j.error_code, '') AS code, coalesce(j.error_message, '') AS message,
        count(DISTINCT j.worker) AS workers
    FROM {rows} GROUP BY 1, 2
    """
    ),
    Resource(
        "Statistics",
        "g",
        "md5(g.code) || md5(g.message)",
        (
            _text("errorCode", "g.code"),
            _text("errorMessage", "g.message"),
            Field("workers", "g.workers", NUMBER, sort=True),
        ),
        key_type=TEXT,
    ),
    (("workers", True), ("errorCode", False), ("errorMessage", False)),
    (*_IN_TIME, "jobType"),
)
"""For each last error of the jobs of one type: how many workers reported it."""


async def totals(connection: Connection, filter: Mapping[str, Any], tenants: Tenants = None) -> bytes:
    """The jobs of a time, of all types or one (`from`, `to`, `jobType`): a JSON object. Raises BadQuery."""
    require(filter, _IN_TIME, "")
    parameters = Parameters(tenants is not None)
    rows = matching(_rows(_TYPE), filter, (), tenants, parameters)
    pairs = ", ".join(f"'{name}', {_metric(name.upper())}" for name in _NAMES)
    text = f"SELECT json_build_object({pairs}, 'isIncomplete', false) FROM {rows}"
    document: bytes = (await connection.execute(text, parameters.values)).rows[0][0]
    return document
