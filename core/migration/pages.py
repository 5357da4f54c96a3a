"""The pages of a large migration: the instance has its new definition, and its elements follow (docs/adr/0088)."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import Effects, Reply
from vivero.core.records.instances import WorkDeferred
from vivero.core.records.migrations import RENAME_PAGE, ElementsRenamed, Renaming
from vivero.core.shared.deferred_work import next_page
from vivero.core.shared.whole_trees import lacks_children, paged_bodies
from vivero.core.state.instance_tree import Instance
from vivero.core.state.migrations import last_of_page
from vivero.core.view import View


def begin(instance: Instance, rest: Renaming) -> WorkDeferred:
    """The pages follow. The item holds the whole tree until the last one."""
    return WorkDeferred(instance.tree.key, ((instance.key, RENAME_PAGE, msgspec.to_builtins(rest)),))


def rename_page(instance: Instance, argument: Any, view: View, size: int) -> Effects:
    """Rename the next page, of at most `size` elements, and answer the request with the last one of all instances.

    Raises:
        NotLoaded: the elements are not all in memory. The tree has paged loops.
    """
    if any(lacks_children(body) for body in paged_bodies(instance, view.state)):
        raise NotLoaded(Need(NeedKind.WHOLE, instance.key))
    rest = msgspec.convert(argument, Renaming)
    last = last_of_page(instance, rest.after, min(size, view.tree_rules.migration_page))
    named = rest.ids, rest.labels, rest.interrupting
    yield ElementsRenamed(instance.key, rest.former, rest.after, last, *named, rest.first_key)
    if last is not None:
        yield begin(instance, msgspec.structs.replace(rest, after=last))
    elif next_page(instance.tree) is None:
        yield Reply(to=rest.request)
