"""How many live rows a tree may have, and what is loaded of it at once: one that grows without end stops visibly.

What is loaded together is held in memory, and read again as a whole where there is no room for it: the larger it is,
the longer all others wait. Elements that make a tree grow, calls and loops, stop first; others may go on for as long
again, so that what runs can end.
"""

from __future__ import annotations

from vivero.engine.core.records.effects import Fail, IncidentType
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View

OTHERS = 2
"""Elements that make nothing grow by themselves begin up to so many times the limits."""


def rows_together(element: Element) -> int:
    """How many live rows the trunk or part of the element has."""
    return element.root.rows if element.part is None else element.part.rows


def rows_at_once(element: Element) -> int:
    """How many live rows are in memory while the element is: of its part, of the parts around it, and of the trunk."""
    rows, part = element.root.rows, element.part
    while part is not None:
        rows += part.rows
        scope = part.head.scope
        part = None if scope is None else scope.part
    return rows


def check(element: Element, view: View, type_: IncidentType, more: int, together: int, times: int = 1) -> None:
    """Whether a tree has room for so many rows `more`, of which some are loaded `together` with the element.

    What is loaded with the element is more than its part: the parts around it and the trunk come with it.

    Raises:
        Fail: it has not, though it may have so many `times` the limits; the text names limit and setting.
    """
    root, most, most_together = element.root, times * view.trees.most, times * view.trees.most_together
    if rows_at_once(element) + together > most_together:
        raise Fail(type_, _text("that are loaded together", most_together, "consumer.max_part_rows"))
    if root.rows + root.in_parts + more > most:
        raise Fail(type_, _text("with all that it calls", most, "consumer.max_tree_rows"))


def check_others(element: Element, view: View) -> None:
    """Whether an element that makes nothing grow by itself may begin. Raises Fail like `check`."""
    if (
        element.root.rows + element.root.in_parts > view.trees.most_together
    ):  # else there is room, which is quickly seen
        check(element, view, IncidentType.UNKNOWN, 0, 0, OTHERS)


def _text(which: str, most: int, setting: str) -> str:
    return (
        f"The process instance has too many live elements: of those {which} there may be {most} ({setting}). "
        "Resolve this incident when some of them have ended."
    )
