"""The rows of migrated instances as documents: their owner columns, which no other change touches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from vivero.core.state.instance_tree import Element, Incident, Instance, Job, Subscription, Timer, UserTask
from vivero.core.state.migrations import Migration
from vivero.storage.state.variable_documents import Document


def documents_of(migrations: Iterable[Migration]) -> Iterator[tuple[str, list[Document]]]:
    """The names of the statements that save them, with the documents of the rows in their last state."""
    of_all = list(migrations)
    for name, rows_of, document in _DOCUMENTS:
        rows = dict.fromkeys(row for one in of_all for row in rows_of(one))
        if rows:
            yield name, [document(row) for row in rows]


def _instances(row: Migration) -> list[Instance]:
    return [row.instance]


def _inside(row: Migration) -> list[Element]:
    """The elements, without the process, which is a row of another table."""
    return [element for element in row.elements if element is not row.instance]


def _instance(row: Instance) -> Document:
    return {
        "key": row.key,
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
    return {"key": row.key, "definition": instance.definition_key, "process_id": instance.process_id}


def _element(row: Element) -> Document:
    return {**_owner(row), "element": row.element, "name": row.label, "compensation": row.compensation}


def _job(row: Job) -> Document:
    return {**_owner(row), "number": row.element.instance.version_number, "element_id": row.element.element}


def _timer(row: Timer) -> Document:
    return {**_owner(row), "target": row.target}


def _user_task(row: UserTask) -> Document:
    instance = row.element.instance
    of_process = {"number": instance.version_number, "process_name": instance.name}
    return {**_owner(row), **of_process, "element_id": row.element.element, "name": row.element.label}


def _incident(row: Incident) -> Document:
    return {**_owner(row), "element_id": row.element.element, "argument": row.argument}


def _subscription(row: Subscription) -> Document:
    instance = row.element.instance
    of_process = {"number": instance.version_number, "process_name": instance.name}
    return {**_owner(row), **of_process, "target": row.target, "interrupting": row.interrupting}


_DOCUMENTS: tuple[tuple[str, Callable[[Migration], Iterable[Any]], Callable[[Any], Document]], ...] = (
    ("migrated_instances", _instances, _instance),
    ("migrated_elements", _inside, _element),
    ("migrated_jobs", lambda row: row.jobs, _job),
    ("migrated_timers", lambda row: row.timers, _timer),
    ("migrated_user_tasks", lambda row: row.user_tasks, _user_task),
    ("migrated_incidents", lambda row: row.incidents, _incident),
    ("migrated_subscriptions", lambda row: row.subscriptions, _subscription),
)
