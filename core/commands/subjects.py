"""The element that a command is about, by the needs of the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.base import Command, WhileSuspended
from vivero.core.state.instance_tree import Element
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.core.view import View

ROWS: Mapping[NeedKind, Callable[[State], Mapping[int, Row]]] = {
    NeedKind.INSTANCE: attrgetter("elements"),
    NeedKind.ELEMENT: attrgetter("elements"),
    NeedKind.JOB: attrgetter("jobs"),
    NeedKind.INCIDENT: attrgetter("incidents"),
    NeedKind.TIMER: attrgetter("timers"),
    NeedKind.USER_TASK: attrgetter("user_tasks"),
    NeedKind.SUBSCRIPTION: attrgetter("subscriptions"),
}
"""The kinds of subjects that belong to a tree."""


def element_of(subject: Need, state: State) -> Element | None:
    """The element of a subject of one of these kinds; None: there is no such row, or it is about a definition."""
    row = ROWS[subject.kind](state).get(subject.key)
    return None if row is None else row.place()


def subject_of(command: Command, needs: Callable[[Any, str], Needs], view: View) -> tuple[int, Element] | None:
    """The key that a command names, and the element of the row with this key; None: it is about no part of a tree.

    Only for commands with a fate while their process instance is suspended (`Command.while_suspended`). The first need
    of a command about a part of a tree names that part.
    """
    subject = next(iter(needs(command, view.tenant)), None)
    if subject is None or subject.kind not in ROWS:
        if command.while_suspended is WhileSuspended.EXECUTE:
            return None
        raise LookupError(f"the first need of {command.intent} names no part of a tree")
    element = element_of(subject, view.state)
    return None if element is None else (subject.key, element)
