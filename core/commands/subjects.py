"""The element that a command is about, by the needs of the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vivero.core.needs import Need, NeedKind
from vivero.core.state.instance_tree import Element
from vivero.core.state.rows import Row
from vivero.core.state.state import State

ROWS: Mapping[NeedKind, Callable[[State], Mapping[int, Row]]] = {
    NeedKind.INSTANCE: lambda state: state.elements,
    NeedKind.ELEMENT: lambda state: state.elements,
    NeedKind.JOB: lambda state: state.jobs,
    NeedKind.INCIDENT: lambda state: state.incidents,
    NeedKind.TIMER: lambda state: state.timers,
    NeedKind.USER_TASK: lambda state: state.user_tasks,
    NeedKind.SUBSCRIPTION: lambda state: state.subscriptions,
}
"""The kinds of subjects that belong to a tree."""


def element_of(subject: Need, state: State) -> Element | None:
    """The element of a subject of one of these kinds; None: there is no such row, or it is about a definition."""
    row = ROWS[subject.kind](state).get(subject.key)
    return None if row is None else row.place()
