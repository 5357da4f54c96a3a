"""Elements of a tree with all that is below them: walked, measured, and freed."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.state.instance_tree import (
    ELEMENT_WEIGHT,
    INSTANCE_WEIGHT,
    MISSING,
    NO_WAITS,
    SUSPENDED_ITEM_WEIGHT,
    Element,
    Instance,
)

CALLS = "CALL_ACTIVITY"
"""The only type of elements with called instances below them."""


def weight_of(element: Element) -> int:
    """Estimated bytes of an element with its rows, without its children."""
    return (
        (INSTANCE_WEIGHT if isinstance(element, Instance) else ELEMENT_WEIGHT)
        + element.waits.weight()
        + (sum(variable.weight() for variable in element.variables.values()) if element.variables else 0)
        + (element.pages.weight() if element.pages is not None else 0)
        + (element.weight_of_occurrences() if element.occurrences else 0)
        + (SUSPENDED_ITEM_WEIGHT * len(element.suspended_work) if isinstance(element, Instance) else 0)
    )


def descendants(element: Element) -> Iterator[Element]:
    """The element and all live elements below it, parents first."""
    pending = [element]
    while pending:
        current = pending.pop()
        pending.extend(current.children.values())
        yield current


def break_cycles(element: Element) -> None:
    """Break the reference cycles of an element, so that its memory is freed without the garbage collector."""
    element.children = {}
    element.variables = {}
    element.waits = NO_WAITS
    element.items = []
    element.part = element.pages = element.past = None
    element.scope = None
    element.tree = element.instance = MISSING


def of_instance(instance: Instance) -> list[Element]:
    """The process instance and its live elements, without those of called instances, parents first."""
    found: list[Element] = [instance]
    for element in found:
        if not element.children:  # most elements have none
            continue
        if element.type == CALLS:
            found.extend(child for child in element.children.values() if type(child) is not Instance)
        else:
            found.extend(element.children.values())
    return found
