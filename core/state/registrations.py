"""Completed activities that can be compensated. BPMN 2.0.2 §10.7, §13.5.5.

They are rows of a table of their own, and mostly not in memory: an instance may have very many. Of each
activity in a scope, memory has the latest ones, if any. The field `registered` of the scope has the numbers of all.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Annotated, Any

import msgspec

from vivero.core.state.columns import CHANGES, DELETES, MEMORY, Column
from vivero.core.state.instance_tree import Element, Instance, InstanceTree, Variable
from vivero.core.state.rows import Row

OPEN, CLOSED = "OPEN", "CLOSED"
RETAINED_ROWS = 1_000
RETAINED_CHARACTERS = 4_000_000
"""Rows that the database has stay in memory while there are at most so many, with so many characters of variables."""


class Registration(Row, msgspec.Struct):  # the second base tells the linter that defaults are copied
    """A row of `compensations`: an activity that has completed. The keys have the order of completion.

    A CLOSED row is deleted: nothing of the activity is left to compensate.
    """

    instance: Annotated[Instance, MEMORY]
    scope: Annotated[int, Column(stored="scope_key", key=True)]
    """The key of the flow scope, which may have completed since."""
    activity: Annotated[int, Column(stored="element_instance_key", key=True)]
    element: Annotated[str, Column(stored="element_id", changes=True)]
    is_scope: bool
    """Whether handlers see the variables of the activity."""
    handler: Annotated[str | None, CHANGES]
    """The boundary event or event sub-process that compensates the activity itself, until it has begun."""
    registered: Annotated[dict[str, int], CHANGES]
    """Numbers of registered activities inside, by id."""
    running: Annotated[bool, CHANGES] = False
    """An event sub-process compensates the activity, in place of what is registered inside."""
    state: Annotated[str, DELETES] = OPEN
    variables: Annotated[dict[str, Variable], MEMORY] = {}
    commits_under_way: Annotated[int, MEMORY] = 0
    """The number of batches that changed it, and whose commits are under way."""

    def place(self) -> Element:
        return self.instance


class Registrations:
    """The registrations of a state that are in memory."""

    __slots__ = ("by_key", "ended", "gone", "of_activity", "of_scope")

    def __init__(self) -> None:
        self.by_key: dict[int, Registration] = {}
        """With those whose end has yet to be saved."""
        self.ended: set[int] = set()
        """Keys of rows that a closed batch has ended. The database has them until its commit is known."""
        self.gone: set[int] = set()
        """Keys that were looked for and not found: nothing of these completed scopes is left to compensate."""
        self.of_activity: dict[int, Registration] = {}
        """Completed scopes by their own key."""
        self.of_scope: dict[int, dict[str, dict[int, Registration]]] = {}
        """Open ones by the key of their scope, their activity, and their own key, in order."""

    def group(self, scope: int, element: str) -> dict[int, Registration]:
        return self.of_scope.get(scope, {}).get(element, {})

    def add_loaded(self, row: Registration) -> None:
        """Add a row of the database. Those of its group are put in order by `sort`."""
        self.by_key[row.key] = row
        if row.is_scope:
            self.of_activity[row.activity] = row
        if not row.running:
            self.of_scope.setdefault(row.scope, {}).setdefault(row.element, {})[row.key] = row

    def sort(self, scope: int, element: str) -> None:
        group = self.group(scope, element)
        rows = sorted(group.items())
        group.clear()
        group.update(rows)

    def retain(self, row: Registration) -> None:
        """A batch that changed the row is closed."""
        row.commits_under_way += 1
        if row.state == CLOSED:
            self.ended.add(row.key)

    def committed(self, row: Registration) -> None:
        """A commit of the row is known. The next batch, which is half computed, may have ended the row meanwhile: the
        database has the row for longer then, and would give it to a load if it were forgotten here."""
        row.commits_under_way -= 1
        if row.key in self.ended and not row.commits_under_way:
            self.ended.remove(row.key)
            self.by_key.pop(row.key, None)
            self.of_activity.pop(row.activity, None)

    def forget_saved(self) -> None:
        """Forget the rows that the database has, if there are too many to keep.

        Without the limit, each handler that waits for a job would load its page again. Of each group, the latest ones
        stay: loading relies on it.
        """
        self.gone.clear()
        if len(self.by_key) <= RETAINED_ROWS and self._weight() <= RETAINED_CHARACTERS:
            return
        for scope, groups in list(self.of_scope.items()):
            for element, group in list(groups.items()):
                self._forget_oldest(group)
                if not group:
                    del groups[element]
            if not groups:
                del self.of_scope[scope]
        for row in [row for row in self.by_key.values() if row.running and not row.commits_under_way]:
            self._forget(row)

    def _weight(self) -> int:
        """Characters of JSON in the variables of completed scopes."""
        scopes = [row.variables for row in self.of_activity.values() if row.variables]
        return sum(len(variable.value) for variables in scopes for variable in variables.values())

    def _forget_oldest(self, group: dict[int, Registration]) -> None:
        for row in list(group.values()):
            if row.commits_under_way:
                return
            self._forget(row)
            del group[row.key]

    def _forget(self, row: Registration) -> None:
        del self.by_key[row.key]
        self.ended.discard(row.key)
        self.of_activity.pop(row.activity, None)

    def forget_trees(self, trees: Set[InstanceTree]) -> None:
        """Forget the rows of trees that leave the memory."""
        for row in [row for row in self.by_key.values() if row.instance.tree in trees]:
            self._forget(row)
            self.of_scope.pop(row.scope, None)


def link(state: Any, row: Registration) -> None:
    """Put an open row into its group, so that undoing the command takes it out."""
    registrations: Registrations = state.registrations
    groups = registrations.of_scope.get(row.scope)
    if groups is None:
        groups = {}
        state.link(registrations.of_scope, row.scope, groups)
    group = groups.get(row.element)
    if group is None:
        group = {}
        state.link(groups, row.element, group)
    state.link(group, row.key, row)
