"""Bulk update of rows that end identically, such as the jobs, user tasks and elements of a cancelled loop.

Elements that begin to terminate, such as those of a large modification, are updated in the same way.

A statement gets their keys, and the values once, instead of a document per row: parsing documents is a large part
of what an update costs PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from vivero.core.state.instance_tree import TERMINATING, Element, Job, UserTask
from vivero.core.state.rows import Row
from vivero.storage.postgres.values import Params
from vivero.storage.state.tables import ELEMENTS, JOBS, USER_TASKS

End = tuple[Any, ...]
"""The name of the statement, and its parameters after the keys."""


class BulkEnd:
    """The stored rows of a batch whose only change is their end, grouped by the values that they end with."""

    def __init__(self) -> None:
        self._rows: dict[End, list[Row]] = {}

    def take(self, kind: type[Row], rows: Iterable[Any]) -> Iterable[Any]:
        """Take the rows of this type whose end is their only change. Returns the others."""
        end_of = _ENDS.get(kind)
        return rows if end_of is None else [row for row in rows if not self._take(row, end_of(row))]

    def _take(self, row: Row, end: End | None) -> bool:
        if end is None:
            return False
        self._rows.setdefault(end, []).append(row)
        return True

    def statements(self) -> dict[str, Params]:
        """The largest group of each table: the name of its statement, and the parameters. One statement per table."""
        largest: dict[str, End] = {}
        for end, rows in self._rows.items():
            if end[0] not in largest or len(rows) > len(self._rows[largest[end[0]]]):
                largest[end[0]] = end
        groups = ((end, self._rows.pop(end)) for end in largest.values())
        return {end[0]: ([row.key for row in rows], str(end[1]), *end[2:]) for end, rows in groups}

    def others(self) -> Iterable[Row]:
        """The rows that are in no statement: they are updated by a document each."""
        return (row for rows in self._rows.values() for row in rows)


def _end_of_element(row: Element) -> End | None:
    if (row.ended_at is None and row.state is not TERMINATING) or _is_more_than_ended(row):
        return None
    return "ended_elements", row.state, row.ended_at


def _end_of_job(row: Job) -> End | None:
    if row.ended_at is None or row.lease != "closed":
        return None
    return "ended_jobs", *JOBS.ending(row)


def _end_of_user_task(row: UserTask) -> End | None:
    if row.ended_at is None:
        return None
    return "ended_user_tasks", *USER_TASKS.ending(row)


_RESET = [field for field in ELEMENTS.changing if field.name not in ("state", "ended_at")]
_reset_of = attrgetter(*(field.name for field in _RESET))
_USUAL = tuple(field.column.usual for field in _RESET)


def _is_more_than_ended(row: Element) -> bool:
    """Whether a column that `ended_elements` resets, other than the state and the end, needs a different value."""
    return bool(_reset_of(row) != _USUAL)


_ENDS: dict[type[Row], Callable[[Any], End | None]] = {
    Element: _end_of_element,
    Job: _end_of_job,
    UserTask: _end_of_user_task,
}
