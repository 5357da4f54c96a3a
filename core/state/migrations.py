"""A migration of a process instance, as a row that tells a batch which other rows it saves anew."""

from __future__ import annotations

from typing import Annotated

import msgspec

from vivero.core.state.columns import MEMORY
from vivero.core.state.instance_tree import Element, Incident, Instance, Job, Subscription, Timer, UserTask
from vivero.core.state.rows import Row

Counted = tuple[int, str, str]
"""(definition, element, its type); the element of the process itself is ''."""


class Migration(Row, msgspec.Struct):  # the second base tells the linter that defaults are copied
    """The rows of an instance that got other owners. `key` is the instance's. This is not a row of a table.

    `left`: how many live elements the database has counted for their former definition, and `joined` for the new one.
    """

    instance: Annotated[Instance, MEMORY]
    former: int
    """The key of the former definition."""
    elements: list[Element] = []
    left: dict[Counted, int] = {}
    joined: dict[Counted, int] = {}
    jobs: list[Job] = []
    user_tasks: list[UserTask] = []
    timers: list[Timer] = []
    subscriptions: list[Subscription] = []
    incidents: list[Incident] = []
    last: bool = True
    """Whether no page of the instance follows."""

    def place(self) -> Element:
        return self.instance


def precedes_pages(element: Element, instance: Instance) -> bool:
    """Whether the event of a migration in pages renames the element itself: the process, and what has completed
    activities, which are in memory then."""
    return element is instance or bool(element.registered)


def left_for_pages(instance: Instance, after: int) -> list[Element]:
    """The elements of the instance with keys above `after` that pages rename."""
    found: list[Element] = []
    pending: list[Element] = [instance]
    while pending:
        for child in pending.pop().children.values():
            if type(child) is Instance:
                continue
            if child.children:
                pending.append(child)
            if child.key > after and not child.registered:
                found.append(child)
    return found
