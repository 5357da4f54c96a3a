"""Checks that the rows of a snapshot refer to each other: unique keys in their order, and no key of a missing row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.core.snapshots.format import Snapshot


def check(snapshot: Snapshot) -> None:
    """Raises InvalidSnapshot, with the name of the field."""
    _check_keys(snapshot)
    _check_scopes(snapshot)
    elements = {entry.key for entry in snapshot.elements}
    for number, variable in enumerate(snapshot.variables):
        if variable.scope_key not in elements:
            raise _missing(f"variables[{number}].scopeKey", "element", variable.scope_key)
    for name, rows in _tables(snapshot):
        for number, row in enumerate(rows):
            key = None if name == "compensations" else getattr(row, "element_key", None)
            if key is not None and key not in elements:
                raise _missing(f"{name}[{number}].elementKey", "element", key)
    jobs = {None, *(entry.key for entry in snapshot.jobs)}
    for number, incident in enumerate(snapshot.incidents):
        if incident.job_key not in jobs:
            raise _missing(f"incidents[{number}].jobKey", "job", incident.job_key)


def _tables(snapshot: Snapshot) -> Iterator[tuple[str, tuple[Any, ...]]]:
    yield "elements", snapshot.elements
    yield "variables", snapshot.variables
    yield "jobs", snapshot.jobs
    yield "userTasks", snapshot.user_tasks
    yield "timers", snapshot.timers
    yield "subscriptions", snapshot.subscriptions
    yield "incidents", snapshot.incidents
    yield "messages", snapshot.messages
    yield "compensations", snapshot.compensations


def _check_keys(snapshot: Snapshot) -> None:
    """Keys are unique and below the next key, and rows are in their order, so that outer scopes come first."""
    seen: set[int] = set()
    for name, rows in _tables(snapshot):
        before = 0
        for number, row in enumerate(rows):
            key, place = int(row.key), f"{name}[{number}].key"
            if key in seen:
                raise InvalidSnapshot(f"{place}: the key {key} is there twice")
            if key <= before:
                raise InvalidSnapshot(f"{place}: the rows are not in the order of their keys")
            if key >= int(snapshot.next_key):
                raise InvalidSnapshot(f"nextKey: it must be above all keys, but {place} is {key}")
            seen.add(key)
            before = key


def _check_scopes(snapshot: Snapshot) -> None:
    if not snapshot.elements:
        raise InvalidSnapshot("elements: a snapshot has at least its root")
    above: set[str] = set()
    for number, entry in enumerate(snapshot.elements):
        place = f"elements[{number}]"
        if entry.scope_key is None and above:
            raise InvalidSnapshot(f"{place}.scopeKey: only the first element is without a scope")
        if entry.scope_key is not None and entry.scope_key not in above:
            raise InvalidSnapshot(f"{place}.scopeKey: no element before this one has the key {entry.scope_key}")
        above.add(entry.key)


def _missing(place: str, what: str, key: str | None) -> InvalidSnapshot:
    return InvalidSnapshot(f"{place}: no {what} has the key {key}")
