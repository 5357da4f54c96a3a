"""Rows that end alike in one batch, as the jobs and elements of a loop that is cancelled do: their keys, and once what
becomes of them, instead of a document each.

Reading documents is a good part of what an update costs PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vivero.engine.core.state.rows import Row
from vivero.engine.core.state.tree import Element, Job
from vivero.storage.postgres.values import Params

End = tuple[Any, ...]
"""The name of the statement, and its parameters behind the keys."""


class Alike:
    """The rows of a batch that the database has and that end, by how they end."""

    def __init__(self) -> None:
        self._rows: dict[End, list[Row]] = {}

    def take(self, row: Row) -> bool:
        """Whether all that has become of the row is an end."""
        end = _end_of(row)
        if end is None:
            return False
        self._rows.setdefault(end, []).append(row)
        return True

    def statements(self) -> dict[str, Params]:
        """Of each table the largest group, so that there is one statement more at most: its name and parameters."""
        largest: dict[str, End] = {}
        for end, rows in self._rows.items():
            if end[0] not in largest or len(rows) > len(self._rows[largest[end[0]]]):
                largest[end[0]] = end
        groups = ((end, self._rows.pop(end)) for end in largest.values())
        return {end[0]: ([row.key for row in rows], str(end[1]), *end[2:]) for end, rows in groups}

    def others(self) -> Iterable[Row]:
        """What `statements` has left."""
        return (row for rows in self._rows.values() for row in rows)


def _end_of(row: Row) -> End | None:
    if type(row) is Element:
        return None if row.ended_at is None or _is_more_than_ended(row) else ("ended_elements", row.state, row.ended_at)
    if type(row) is not Job or row.ended_at is None or row.lease != "closed":
        return None
    error = row.error_code, row.error_message
    return "ended_jobs", row.state, row.retries, row.priority, *error, row.updated_at, row.ended_at


def _is_more_than_ended(row: Element) -> bool:
    """Whether a column that may change is to be other than it mostly is, the state and the end apart."""
    if row.request is not None or row.incident is not None:
        return True
    return bool(row.tokens or row.live or row.then or row.interrupted or row.loop or row.incidents or row.flows)
