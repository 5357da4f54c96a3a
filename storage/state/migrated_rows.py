"""The rows of migrated instances as documents: their owner columns, which no other change touches.

Rows that get the same owners share a document, which has the list of their keys. Most of the thousands of elements of a
loop do. A row that has ended between two migrations in one batch keeps the definition by which it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from vivero.core.state.instance_tree import Element, Incident, Instance, Job, Subscription, Timer, UserTask
from vivero.core.state.migrations import Migration
from vivero.storage.state.variable_documents import Document


class _Statement(NamedTuple):
    """Saves rows of a table. Rows for which `shared` gives the same have the same document."""

    name: str
    rows_of: Callable[[Migration], Iterable[Any]]
    shared: Callable[[Any], Hashable]
    document: Callable[[Any], Document]

    def documents(self, migrations: list[Migration]) -> list[Document]:
        """The documents of the rows in their last state, those of several migrations once."""
        groups: dict[Hashable, list[Any]] = {}
        for row in dict.fromkeys(row for one in migrations for row in self.rows_of(one)):
            groups.setdefault(self.shared(row), []).append(row)
        return [{"keys": [row.key for row in rows], **self.document(rows[0])} for rows in groups.values()]


def documents_of(migrations: Iterable[Migration]) -> Iterator[tuple[str, list[Document]]]:
    """The names of the statements that save them, with their documents."""
    of_all = list(migrations)
    for statement in _STATEMENTS:
        if documents := statement.documents(of_all):
            yield statement.name, documents


def _instances(row: Migration) -> list[Instance]:
    """The process; a page of its elements is without it."""
    return [row.instance] if row.instance in row.elements[:1] else []


def _inside(row: Migration) -> list[Element]:
    """The elements, without the process, which is a row of another table."""
    return [element for element in row.elements if element is not row.instance]


def _instance(row: Instance) -> Document:
    return {
        "definition": row.definition_key,
        "process_id": row.process_id,
        "number": row.version_number,
        "version_tag": row.version_tag,
        "name": row.name,
        "start": row.start,
        "terminate_after": row.terminate_after or None,
    }


def _owner(row: Any) -> Document:
    instance: Instance = row.instance if isinstance(row, Element) else row.element.instance
    return {"definition": instance.definition_key, "process_id": instance.process_id}


def _of_process(instance: Instance) -> Document:
    return {"number": instance.version_number, "process_name": instance.name}


def _element(row: Element) -> Document:
    return {**_owner(row), "element": row.element, "name": row.label, "compensation": row.compensation}


def _job(row: Job) -> Document:
    return {**_owner(row), "number": row.element.instance.version_number, "element_id": row.element.element}


def _timer(row: Timer) -> Document:
    return {**_owner(row), "target": row.target}


def _user_task(row: UserTask) -> Document:
    element = row.element
    return {**_owner(row), **_of_process(element.instance), "element_id": element.element, "name": element.label}


def _incident(row: Incident) -> Document:
    return {**_owner(row), "element_id": row.element.element, "argument": row.argument}


def _subscription(row: Subscription) -> Document:
    of_process = _of_process(row.element.instance)
    return {**_owner(row), **of_process, "target": row.target, "interrupting": row.interrupting}


def _ran_by(element: Element) -> tuple[int, int]:
    return element.instance.key, element.instance.definition_key


def _by_element(row: Element) -> Hashable:
    return (*_ran_by(row), row.element) if row.compensation is None else row.key


def _by_element_of(row: Job | UserTask) -> Hashable:
    return *_ran_by(row.element), row.element.element


def _by_target(row: Timer | Subscription) -> Hashable:
    assert row.element is not None, "no migration has the timer of a start event"
    return *_ran_by(row.element), row.target, isinstance(row, Subscription) and row.interrupting


def _alone(row: Instance | Incident) -> Hashable:
    return row.key


_STATEMENTS = (
    _Statement("migrated_instances", _instances, _alone, _instance),
    _Statement("migrated_elements", _inside, _by_element, _element),
    _Statement("migrated_jobs", lambda row: row.jobs, _by_element_of, _job),
    _Statement("migrated_timers", lambda row: row.timers, _by_target, _timer),
    _Statement("migrated_user_tasks", lambda row: row.user_tasks, _by_element_of, _user_task),
    _Statement("migrated_incidents", lambda row: row.incidents, _alone, _incident),
    _Statement("migrated_subscriptions", lambda row: row.subscriptions, _by_target, _subscription),
)
