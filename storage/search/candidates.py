"""The rows that the filter of a batch operation selects, portion by portion.

A filter is that of a search. The type of the batch adds conditions: only what it can change, and nothing newer than
the batch. The portions are in the order of the keys. With a range of time they are in the order of that time, whose
index has the range: in the order of the keys, PostgreSQL may read the whole table for each portion.

Rows of one evaluation are one item: they follow each other in both orders, and the next portion begins behind the
evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.search.criteria import require_criteria
from vivero.storage.search.decision_instances import DECISION_INSTANCES
from vivero.storage.search.filters import conditions_of, join
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.jobs import JOBS
from vivero.storage.search.pages import ranges_of
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.resources import Resource
from vivero.storage.work.batch_operations import (
    CANCEL_PROCESS_INSTANCE,
    DELETE_DECISION_INSTANCE,
    DELETE_PROCESS_INSTANCE,
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESOLVE_INCIDENT,
    RESUME_PROCESS_INSTANCE,
    SUSPEND_PROCESS_INSTANCE,
    UPDATE_JOB,
    CallerBounds,
    Candidate,
    Operation,
)

INSTANCES_PATH, INCIDENTS_PATH, JOBS_PATH = "process-instances", "incidents", "jobs"
DECISIONS_PATH = "decision-instances"
_ACTIVE = '{"state": "ACTIVE"}'
_EVERYTHING: Mapping[str, str] = {
    DELETE_PROCESS_INSTANCE: '{"state": {"$neq": "ACTIVE"}}',
    DELETE_DECISION_INSTANCE: '{"state": {"$in": ["EVALUATED", "FAILED"]}}',
    UPDATE_JOB: '{"retries": {"$gte": 0}}',
}
"""Type of the batch → the filter that selects everything, where it is not `_ACTIVE`."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """Rows of a table `t`, whose key becomes the item's. `own` is a condition; `filtered` makes one of the filter's.

    `has_state`: a `state` in the filter counts. Else the own condition stands for it.
    `item`: the item's key, if several rows can be one item. `process`: the column with the id that permissions name.
    `among` makes the condition that all of the item's ids are in a list.
    """

    resource: Resource
    key: str
    table: str
    own: str
    created: str
    filtered: Callable[[str], str] = str
    has_state: bool = True
    item: str | None = None
    process: str = "process_id"
    among: Callable[[str], str] | None = None

    @property
    def alias(self) -> str:
        return self.key[0]

    @property
    def item_key(self) -> str:
        return self.item or self.key

    def of_processes(self, ids: str) -> str:
        """The condition that the caller may change the item of a row."""
        return f"{self.alias}.{self.process} = ANY ({ids})" if self.among is None else self.among(ids)


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
_DECISIONS = """(SELECT bool_and(o.decision_id = ANY ({})) FROM decision_instances o
    WHERE o.decision_evaluation_key = d.decision_evaluation_key)"""
"""A scalar subquery: PostgreSQL would turn NOT EXISTS into a join that reads all rows."""
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
    (DELETE_DECISION_INSTANCE, DECISIONS_PATH): _Selection(
        DECISION_INSTANCES,
        DECISION_INSTANCES.key,
        DECISION_INSTANCES.source,
        "true",
        "d.evaluated_at",
        item="d.decision_evaluation_key",
        process="decision_id",
        among=_DECISIONS.format,
    ),
    (UPDATE_JOB, JOBS_PATH): _Selection(JOBS, "j.job_key", "jobs j", "j.ended_at IS NULL", "j.created_at"),
}
"""Type of the batch and resource of its filter → what it selects. A called instance is cancelled and deleted with its
root; it is migrated, modified, suspended and resumed by itself."""


def statement(type: str, resource: str, filter: Mapping[str, Any], limits: PortionLimits) -> tuple[str, list[Any]]:
    """The statement for the next portion, and its parameters.

    Raises:
        BadQuery: the filter's problem.
    """
    selection, parameters = _SELECTIONS[type, resource], Parameters()
    alias, bounds = selection.alias, limits.bounds
    conditions = [
        selection.own,
        f"{selection.created} <= {parameters.add(limits.created_at, 'timestamptz')}",
    ]
    by_time = _time_of_scan(selection, filter, limits)
    order = selection.key if by_time is None else f"{by_time}, {selection.key}"
    conditions += _behind(selection, by_time, limits, parameters)
    if bounds.tenants is not None:
        conditions.append(f"{alias}.tenant_id = ANY ({parameters.add(list(bounds.tenants), 'text[]')})")
    if bounds.processes is not None:
        conditions.append(selection.of_processes(parameters.add(list(bounds.processes), "text[]")))
    counted = filter if selection.has_state else {name: given for name, given in filter.items() if name != "state"}
    conditions.append(selection.filtered(join(conditions_of(selection.resource, counted, "filter", parameters))))
    text = (
        f"SELECT {selection.item_key}, {alias}.process_instance_key, {alias}.root_key, {alias}.{selection.process},"
        f" {alias}.tenant_id, {by_time or 'NULL::timestamptz'} FROM {selection.table} WHERE {join(conditions)}"
        f" ORDER BY {order} LIMIT {parameters.add(limits.rows, 'int')}"
    )
    return text, parameters.values


def _time_of_scan(selection: _Selection, filter: Mapping[str, Any], limits: PortionLimits) -> str | None:
    """The time that orders the scan, if the filter has a range of it; None for the order of the keys."""
    if selection.table != selection.resource.source or (limits.after and limits.at is None):
        return None  # a scan goes on in the order in which it began
    return next((field.sql for field in ranges_of(selection.resource, filter)), None)


def _behind(selection: _Selection, by_time: str | None, limits: PortionLimits, parameters: Parameters) -> Iterator[str]:
    key = selection.item_key
    if by_time is None:
        after = parameters.add(limits.after, "bigint")
        yield f"{selection.key} > {after}"
        if selection.item is not None:
            yield f"{key} > {after}"
    elif limits.at is not None:
        at = parameters.add(limits.at, "timestamptz")
        yield f"{by_time} >= {at}"
        yield f"({by_time}, {key}) > ({at}, {parameters.add(limits.after, 'bigint')})"


def check(type: str, resource: str, filter: Mapping[str, Any]) -> None:
    """Raises BadQuery for a filter that cannot be evaluated, or that selects by nothing."""
    conditions_of(_SELECTIONS[type, resource].resource, filter, "filter", Parameters())
    statement(type, resource, filter, PortionLimits(CallerBounds(), datetime.fromtimestamp(0, UTC)))
    require_criteria(filter, _EVERYTHING.get(type, _ACTIVE))


async def find(
    connection: Connection, operation: Operation, filter: Mapping[str, Any], count: int, deadline: float | None = None
) -> tuple[list[Candidate], bool]:
    """The items of the next rows, up to `count`, for a batch; and whether there are no others. Raises BadQuery."""
    limits = PortionLimits(operation.bounds, operation.created_at, operation.scan_cursor, count, operation.scan_at)
    text, values = statement(operation.type, operation.resource, filter, limits)
    rows = (await connection.execute(text, values, deadline=deadline)).rows
    items = {row[0]: Candidate(*row) for row in rows}
    return list(items.values()), len(rows) < count
