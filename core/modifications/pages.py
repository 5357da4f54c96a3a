"""The pages of a modification that ends so many elements that others would wait for one transaction (docs/adr/0088)."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementTerminating, WorkDeferred
from vivero.core.records.modifications import TERMINATE_PAGE
from vivero.core.shared.ending import Ending
from vivero.core.shared.whole_trees import lacks_children, paged_bodies
from vivero.core.state.instance_tree import TERMINATING, Instance
from vivero.core.view import View


def begin(instance: Instance, keys: Sequence[int], size: int) -> WorkDeferred:
    """These elements end in pages. The items hold the whole tree until the last element has begun to end."""
    pages = (keys[first : first + size] for first in range(0, len(keys), size))
    return WorkDeferred(instance.tree.key, tuple((instance.key, TERMINATE_PAGE, page) for page in pages))


def terminate_page(instance: Instance, keys: Sequence[int], view: View, size: int) -> Effects:
    """Let the elements of a page end, the first ones if they are more than `size`.

    Raises:
        NotLoaded: the elements are not all in memory. The tree has paged loops.
    """
    if any(lacks_children(body) for body in paged_bodies(instance, view.state)):
        raise NotLoaded(Need(NeedKind.WHOLE, instance.key))
    elements = view.state.elements
    for key in keys[:size]:
        element = elements.get(key)
        if element is not None and element.state is not TERMINATING and not Ending().covers(element.scope):
            yield ElementTerminating(key)
    if len(keys) > size:
        yield begin(instance, keys[size:], len(keys))
