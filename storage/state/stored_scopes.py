"""Stored process instances and elements as objects of the state."""

from __future__ import annotations

from vivero.core.state.instance_tree import (
    ELEMENT_WEIGHT,
    INSTANCE_WEIGHT,
    Element,
    Instance,
    LoopPages,
    Part,
    still_to_come,
)
from vivero.core.state.state import State
from vivero.storage.state.tables import ELEMENTS, INSTANCES, StoredRow


def add_instance(state: State, stored: StoredRow) -> Instance:
    """The process instance of a row, with its root. Its caller must be in the state."""
    key, root_key, caller = stored[:3]
    scope = None if caller is None else state.elements[caller]
    instance: Instance = INSTANCES.row(stored, "", "PROCESS", None, None, scope, (key,))
    instance.element = instance.process_id
    _set_tree(state, instance, root_key, stored)
    instance.tree.weight += INSTANCE_WEIGHT
    _count(instance)
    return instance


def _set_tree(state: State, instance: Instance, root_key: int, stored: StoredRow) -> None:
    instance.instance = instance
    if instance.key == root_key:
        instance.tree = state.trees[root_key] = INSTANCES.tree(stored, instance)
    else:
        instance.tree = state.trees[root_key]
        instance.part = None if instance.scope is None else instance.scope.part


def add_element(state: State, stored: StoredRow) -> Element:
    """The element of a row, in its part. Its scope must be in the state."""
    key, instance_key, scope_key, path = stored[:4]
    instance = state.elements[instance_key]
    assert isinstance(instance, Instance), f"element {key} names {instance_key}, which is not a process instance"
    element: Element = ELEMENTS.row(stored, instance.tree, instance, state.elements[scope_key], tuple(path))
    instance.tree.weight += ELEMENT_WEIGHT
    _place(state, element)
    _count(element)
    return element


def _count(element: Element) -> None:
    together = element.tree if element.part is None else element.part
    together.rows += 1 + still_to_come(element)


def _place(state: State, element: Element) -> None:
    """Sets the part of an element. The inner instance of a paged loop begins a part of its own."""
    scope = element.scope
    if scope is not None:
        element.part = scope.part
        if scope.pages is not None:
            element.part = state.parts[element.key] = Part(element.key, element)
    if element.loop is not None and element.loop.paged:
        element.pages = LoopPages(element.key)
        state.paged[element.key] = element
