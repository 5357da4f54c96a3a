"""Limits of the live rows of an instance tree, in total and loaded together. A tree that grows for ever gets incidents.

Rows that are loaded together stay in memory together, and are read again together after their eviction. The more they
are, the longer all others wait. Calls and loops, which make a tree grow, stop at the limit. Other elements stop at
twice the limit, so that running work can end.
"""

from __future__ import annotations

from vivero.core.records.effects import Fail, IncidentType
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

ORDINARY_FACTOR = 2
"""Elements other than calls and loops may begin up to this multiple of the limits."""


def rows_of_part(element: Element) -> int:
    """The number of live rows of the element's part, or of the trunk."""
    return element.tree.rows if element.part is None else element.part.rows


def rows_in_memory(element: Element) -> int:
    """The number of live rows that are loaded with the element: its part, the parts around it, and the trunk."""
    rows, part = element.tree.rows, element.part
    while part is not None:
        rows += part.rows
        scope = part.head.scope
        part = None if scope is None else scope.part
    return rows


def check(element: Element, view: View, type_: IncidentType, more: int, together: int, times: int = 1) -> None:
    """Check `more` new rows of the tree, of which `together` are loaded with the element.

    The parts around the element and the trunk are loaded with it, too.

    Raises:
        Fail: they exceed the limits multiplied by `times`. The message names limit and setting.
    """
    tree, most, max_part_rows = (
        element.tree,
        times * view.tree_rules.max_tree_rows,
        times * view.tree_rules.max_part_rows,
    )
    if rows_in_memory(element) + together > max_part_rows:
        raise Fail(type_, _text("loaded together", max_part_rows, "consumer.max_part_rows"))
    if tree.rows + tree.in_parts + more > most:
        raise Fail(type_, _text("including called processes", most, "consumer.max_tree_rows"))


def check_ordinary(element: Element, view: View) -> None:
    """Check that an element other than a call or a loop may begin. Raises Fail like `check`.

    Trees of at most `max_part_rows` rows need no check."""
    check(element, view, IncidentType.UNKNOWN, 0, 0, ORDINARY_FACTOR)


def _text(which: str, most: int, setting: str) -> str:
    return (
        f"The process instance has too many live elements: at most {most} {which} are allowed ({setting}). "
        "Resolve this incident after some of them have ended."
    )
