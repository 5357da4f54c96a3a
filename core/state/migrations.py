"""A migration of a process instance, as a row that tells a batch which other rows it saves anew."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import Annotated

import msgspec

from vivero.core.state.columns import MEMORY
from vivero.core.state.instance_tree import NO_PAGES, Element, Incident, Instance, Job, Subscription, Timer, UserTask
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.core.state.subtrees import of_instance

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


def preceding_pages(state: State, instance: Instance) -> list[Element]:
    """The elements that the event of a migration in pages renames itself: the process, and what has completed
    activities, which are in memory then.
    """
    if not state.registrations.by_key:
        return [instance]
    return [one for one in of_instance(instance) if precedes_pages(one)]


def precedes_pages(element: Element) -> bool:
    return element is element.instance or bool(element.registered)


def page_of(state: State, instance: Instance, after: int, last: int | None) -> list[Element]:
    """The elements of the instance with keys above `after` up to `last`, which a page renames, by key."""
    page = _between(_of_pages(instance), after, last)
    if any(state.elements.get(one.key) is not one for one in page):  # they were evicted and loaded again
        instance.tree.of_pages = NO_PAGES
        page = _between(_of_pages(instance), after, last)
    return page


def last_of_page(instance: Instance, after: int, size: int) -> int | None:
    """The key of the last element of a page; None if no element comes behind it."""
    elements = _of_pages(instance)
    last = bisect_right(elements, after, key=_KEY) + size
    return elements[last - 1].key if last < len(elements) else None


def _of_pages(instance: Instance) -> list[Element]:
    """The elements of all pages, by key. A walk for each page would cost the square of them.

    None of them begins or ends before the last page.
    """
    tree = instance.tree
    if tree.of_pages[0] is not instance:
        elements = [one for one in of_instance(instance) if not precedes_pages(one)]
        tree.of_pages = instance, sorted(elements, key=_KEY)
    return tree.of_pages[1]


def _between(elements: list[Element], after: int, last: int | None) -> list[Element]:
    upto = None if last is None else bisect_right(elements, last, key=_KEY)
    return elements[bisect_right(elements, after, key=_KEY) : upto]


_KEY = attrgetter("key")
