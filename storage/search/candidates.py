"""The rows that the filter of a batch operation selects, portion by portion.

A filter is that of a search. The type of the batch adds conditions: only what it can change, and nothing newer than
the batch. The portions are in the order of the keys. With a range of time they are in the order of that time, whose
index has the range: in the order of the keys, PostgreSQL may read the whole table for each portion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.search.criteria import require_criteria
from vivero.storage.search.filters import conditions_of, join
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.pages import ranges_of
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.resources import Resource
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    DELETE_PROCESS_INSTANCE,
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    CallerBounds,
    Candidate,
    Operation,
)

ACTIVE, ENDED = '{"state": "ACTIVE"}', '{"state": {"$neq": "ACTIVE"}}'
"""The filters that select everything."""
INSTANCES_PATH, INCIDENTS_PATH = "process-instances", "incidents"


@dataclass(frozen=True, slots=True)
class _Selection:
    """Rows of a table `t`, whose key becomes the item's. `own` is a condition; `filtered` makes one of the filter's.

    `has_state`: a `state` in the filter counts. Else the own condition stands for it.
    """

    resource: Resource
    key: str
    table: str
    own: str
    created: str
    filtered: Callable[[str], str] = str
    has_state: bool = True


class PortionLimits(NamedTuple):
    """The limits of a portion: tenants, processes, the newest row, the key before it, and the number of rows.

    `at`: the time of the row with that key, for a scan in the order of a time.
    """

    bounds: CallerBounds
    created_at: datetime
    after: int = 0
    rows: int = 1
    at: datetime | None = None


_INCIDENTS = ("i.incident_key", "incidents i", "i.resolved_at IS NULL", "i.created_at")
_INSTANCES = (PROCESS_INSTANCES, "p.process_instance_key", "process_instances p")
_RUNNING = _Selection(*_INSTANCES, "p.ended_at IS NULL AND p.suspended_at IS NULL", "p.started_at")
_SELECTIONS: Mapping[tuple[str, str], _Selection] = {
    (CANCEL_PROCESS_INSTANCE, INSTANCES_PATH): _Selection(
        *_INSTANCES,
        "p.ended_at IS NULL AND p.parent_process_instance_key IS NULL",
        "p.started_at",
    ),
    (SUSPEND_PROCESS_INSTANCE, INSTANCES_PATH): _RUNNING,
    (RESUME_PROCESS_INSTANCE, INSTANCES_PATH): _Selection(
        *_INSTANCES, "p.ended_at IS NULL AND p.suspended_at IS NOT NULL", "p.started_at"
    ),
    (DELETE_PROCESS_INSTANCE, INSTANCES_PATH): _Selection(
        *_INSTANCES,
        "p.ended_at IS NOT NULL AND p.parent_process_instance_key IS NULL",
        "p.started_at",
    ),
    (MIGRATE_PROCESS_INSTANCE, INSTANCES_PATH): _RUNNING,
    (MODIFY_PROCESS_INSTANCE, INSTANCES_PATH): replace(_RUNNING, has_state=False),
    (RESOLVE_INCIDENT, INSTANCES_PATH): _Selection(
        PROCESS_INSTANCES,
        *_INCIDENTS,
        "EXISTS (SELECT FROM process_instances p WHERE p.process_instance_key = i.process_instance_key AND {})".format,
    ),
    (RESOLVE_INCIDENT, INCIDENTS_PATH): _Selection(INCIDENTS, *_INCIDENTS),
}
"""Type of the batch and resource of its filter → what it selects. A called instance is cancelled and deleted with its
root; it is migrated, modified, suspended and resumed by itself."""


def statement(type: str, resource: str, filter: Mapping[str, Any], limits: PortionLimits) -> tuple[str, list[Any]]:
    """The statement for the next portion, and its parameters.

    Raises:
        BadQuery: the filter's problem.
    """
    selection, parameters = _SELECTIONS[type, resource], Parameters()
    alias = selection.key[0]
    conditions = [
        selection.own,
        f"{selection.created} <= {parameters.add(limits.created_at, 'timestamptz')}",
    ]
    by_time = _time_of_scan(selection, filter, limits)
    order = selection.key if by_time is None else f"{by_time}, {selection.key}"
    conditions += _behind(selection.key, by_time, limits, parameters)
    for column, ids in (("tenant_id", limits.bounds.tenants), ("process_id", limits.bounds.processes)):
        if ids is not None:
            conditions.append(f"{alias}.{column} = ANY ({parameters.add(list(ids), 'text[]')})")
    counted = filter if selection.has_state else {name: given for name, given in filter.items() if name != "state"}
    conditions.append(selection.filtered(join(conditions_of(selection.resource, counted, "filter", parameters))))
    text = (
        f"SELECT {selection.key}, {alias}.process_instance_key, {alias}.root_key, {alias}.process_id,"
        f" {alias}.tenant_id, {by_time or 'NULL::timestamptz'} FROM {selection.table} WHERE {join(conditions)}"
        f" ORDER BY {order} LIMIT {parameters.add(limits.rows, 'int')}"
    )
    return text, parameters.values


def _time_of_scan(selection: _Selection, filter: Mapping[str, Any], limits: PortionLimits) -> str | None:
    """The time that orders the scan, if the filter has a range of it; None for the order of the keys."""
    if selection.table != selection.resource.source or (limits.after and limits.at is None):
        return None  # a scan goes on in the order in which it began
    return next((field.sql for field in ranges_of(selection.resource, filter)), None)


def _behind(key: str, by_time: str | None, limits: PortionLimits, parameters: Parameters) -> Iterator[str]:
    if by_time is None:
        yield f"{key} > {parameters.add(limits.after, 'bigint')}"
    elif limits.at is not None:
        at = parameters.add(limits.at, "timestamptz")
        yield f"{by_time} >= {at}"
        yield f"({by_time}, {key}) > ({at}, {parameters.add(limits.after, 'bigint')})"


def check(type: str, resource: str, filter: Mapping[str, Any]) -> None:
    """Raises BadQuery for a filter that cannot be evaluated, or that selects by nothing."""
    conditions_of(_SELECTIONS[type, resource].resource, filter, "filter", Parameters())
    statement(type, resource, filter, PortionLimits(CallerBounds(), datetime.fromtimestamp(0, UTC)))
    require_criteria(filter, ENDED if type == DELETE_PROCESS_INSTANCE else ACTIVE)


async def find(
    connection: Connection, operation: Operation, filter: Mapping[str, Any], count: int, deadline: float | None = None
) -> list[Candidate]:
    """The next rows for a batch, up to `count`. Raises BadQuery."""
    limits = PortionLimits(operation.bounds, operation.created_at, operation.scan_cursor, count, operation.scan_at)
    text, values = statement(operation.type, operation.resource, filter, limits)
    return [Candidate(*row) for row in (await connection.execute(text, values, deadline=deadline)).rows]
