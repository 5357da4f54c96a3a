"""The changed rows of a batch as statements: one for each table, with a JSON document for each row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vivero.core.records.user_tasks import CANCELING
from vivero.core.shared.listeners import CANCEL
from vivero.core.state.catalogue import Deployment, Usage
from vivero.core.state.decision_instances import DecisionInstance
from vivero.core.state.instance_tree import (
    Instance,
    InstanceTree,
    Job,
    LoopItem,
    LoopItems,
    LoopResult,
    SuspensionChange,
    Variable,
    WorkRows,
)
from vivero.core.state.loop_rows import first_of
from vivero.core.state.message_channels import Correlation
from vivero.core.state.migrations import Migration
from vivero.core.state.rows import Row
from vivero.core.state.slot_moves import SlotMove
from vivero.core.state.state import State
from vivero.core.state.work_rows import row_of
from vivero.storage.postgres.driver import Call
from vivero.storage.postgres.sql_files import Statement, load
from vivero.storage.postgres.values import Params, Texts
from vivero.storage.state import variable_documents as variables
from vivero.storage.state.bulk_end import BulkEnd
from vivero.storage.state.migrated_rows import documents_of
from vivero.storage.state.tables import CORRELATIONS, DECISION_INSTANCES, DEPLOYMENTS, TABLES, Table

_sql = load(Path(__file__).with_name("save.sql"))
_encode = msgspec.json.Encoder().encode

Document = variables.Document | msgspec.Struct


class RowsByType:
    """The dirty rows of a batch by their type, in the order of their first change."""

    def __init__(self, state: State) -> None:
        self.new: defaultdict[type[Row], list[Any]] = defaultdict(list)
        self.changed: defaultdict[type[Row], list[Any]] = defaultdict(list)
        fresh, new, changed = state.fresh, self.new, self.changed
        for row in state.dirty:
            (new if row in fresh else changed)[type(row)].append(row)

    def ready_jobs(self) -> dict[tuple[str, str], list[Job]]:
        """The new jobs that a worker can have, by type and tenant. `statements_for_rows` forgets which they are."""
        ready: dict[tuple[str, str], list[Job]] = {}
        for job in self.new.get(Job, ()):
            if job.lease == "ready":
                ready.setdefault((job.type, job.element.instance.tenant), []).append(job)
        return ready


def statements_for_rows(state: State, by_type: RowsByType | None = None) -> Iterator[Call]:
    """The statements for all dirty rows. `by_type`: these rows, if they are grouped already."""
    rows = RowsByType(state) if by_type is None else by_type
    bulk_end, written = BulkEnd(), _Written()
    for kind, some in rows.new.items():
        if kind not in _OTHERWISE:
            written.add(kind, some, new=True)
    for kind, some in rows.changed.items():
        if kind not in _OTHERWISE:
            written.add(kind, bulk_end.take(kind, some), new=False)
    ended = {_sql[name]: params for name, params in bulk_end.statements().items()}
    if Migration in rows.new:
        ended.update(_migrated(rows.new[Migration]))
    for row in bulk_end.others():
        written.add(type(row), [row], new=False)
    ended |= _suspensions((*rows.new.get(SuspensionChange, ()), *rows.changed.get(SuspensionChange, ())))
    for job in (*rows.new.get(Job, ()), *rows.changed.get(Job, ())):
        job.lease = job.leased_until = None
    for statement in sorted([*written.documents, *ended], key=_ORDER.__getitem__):
        yield statement, ended[statement] if statement in ended else written.params(statement, state)
    for begun in (*rows.new.get(LoopItems, ()), *rows.changed.get(LoopItems, ())):
        yield _paged_items(begun)
    if changes := rows.new.get(WorkRows):
        yield _work_items(changes)


def _suspensions(changes: Iterable[SuspensionChange]) -> dict[Statement, Params]:
    """The jobs of all these instances are released, then those of the suspended ones wait."""
    instances = {change.key: change.instance for change in changes}.values()
    if not instances:
        return {}
    statements: dict[Statement, Params] = {_sql["released_jobs"]: _places(instances)}
    suspended = [instance for instance in instances if instance.suspended_at is not None]
    if suspended:
        statements[_sql["suspended_jobs"]] = (*_places(suspended), [CANCEL, CANCELING])
    return statements


def _places(instances: Iterable[Instance]) -> tuple[list[int], list[int], list[int]]:
    """The parts that hold all live rows of some of the instances, these instances, and the other instances."""
    whole = [instance for instance in instances if not instance.tree.in_parts]
    others = [instance.key for instance in instances if instance.tree.in_parts]
    return list({instance.tree.key for instance in whole}), [instance.key for instance in whole], others


class _Saved(NamedTuple):
    """The statement and the document of a new row, and of a changed row."""

    insert: Statement
    new: Callable[[Any], Document]
    update: Statement
    changed: Callable[[Any], Document]


def _derived(table: Table) -> _Saved:
    return _Saved(_sql[f"new_{table.name}"], table.new, _sql[table.name], table.changed)


def _always(table: Table, statement: Statement) -> _Saved:
    """For rows that never change."""
    return _Saved(statement, table.new, statement, table.new)


class _Written:
    """The documents of a batch, by statement."""

    def __init__(self) -> None:
        self.documents: dict[Statement, list[Document]] = {}

    def add(self, kind: type[Row], rows: Iterable[Row], new: bool) -> None:
        table = _TABLES[kind]
        statement, document = (table.insert, table.new) if new else (table.update, table.changed)
        documents = list(map(document, rows))
        if documents:
            self.documents.setdefault(statement, []).extend(documents)

    def params(self, statement: Statement, state: State) -> Params:
        encoded = _encode(self.documents[statement])
        if statement is NEW_JOBS:
            return encoded, *_NO_LEASES
        return (encoded, state.partition) if statement in _WITH_PARTITION else (encoded,)


def _migrated(rows: list[Migration]) -> Iterator[tuple[Statement, Params]]:
    """The statements for the rows of migrated instances. Several timers of an element must not have one target
    meanwhile."""
    for name, documents in documents_of(rows):
        yield _sql[name], (_encode(documents),)
    timers = dict.fromkeys(timer for one in rows for timer in one.timers)
    of_elements = Counter(timer.element for timer in timers)
    if parted := [timer.key for timer in timers if of_elements[timer.element] > 1]:
        yield _sql["parted_timers"], (parted,)


def _paged_items(row: LoopItems) -> Call:
    """The items of a paged loop that begins, as columns: PostgreSQL would need long to read so many documents."""
    firsts = [first_of(number) for number in range(len(row.rows))]
    return _sql["paged_loop_items"], ([row.key] * len(firsts), firsts, Texts(map(str.encode, row.rows)))


def _work_items(changes: Iterable[WorkRows]) -> Call:
    """The rows of work items that have changed, and the number of rows that each instance has from now on."""
    first: dict[tuple[int, bool], WorkRows] = {}
    for change in changes:
        place = change.key, change.suspended
        if place not in first or change.first < first[place].first:
            first[place] = change
    numbers = [(one, number) for one in first.values() for number in range(one.first, one.rows())]
    return _sql["work_items"], (
        [key for key, _ in first],
        [int(suspended) for _, suspended in first],
        [one.rows() for one in first.values()],
        [one.key for one, _ in numbers],
        [int(one.suspended) for one, _ in numbers],
        [number for _, number in numbers],
        Texts(row_of(one.items(), number) for one, number in numbers),
    )


_TABLES: dict[type[Row], _Saved] = {
    LoopItem: _Saved(_sql["new_loop_items"], variables.new_loop_item, _sql["loop_items"], variables.changed_loop_item),
    LoopResult: _Saved(
        _sql["paged_loop_results"], variables.loop_result, _sql["paged_loop_results"], variables.loop_result
    ),
    Variable: _Saved(_sql["new_variables"], variables.new_variable, _sql["variables"], variables.changed_variable),
    Correlation: _always(CORRELATIONS, _sql["message_correlations"]),
    Deployment: _always(DEPLOYMENTS, _sql["new_deployments"]),
    DecisionInstance: _always(DECISION_INSTANCES, _sql["new_decision_instances"]),
    **{table.kind: _derived(table) for table in TABLES},
}

_OTHERWISE = (InstanceTree, LoopItems, Usage, SlotMove, Migration, SuspensionChange, WorkRows)
"""Rows in the statement of another row, or with statements of their own, here and in `save`."""
NEW_JOBS = _sql["new_jobs"]
_NO_LEASES: Params = ([], [], [], [])
_WITH_PARTITION = {_sql["new_timers"], _sql["new_messages"]}
_ORDER = {statement: place for place, statement in enumerate(_sql.values())}
"""Tables are written in the order of the file, so all batches take their locks in the same order."""
