"""Deferred work, which a later command continues (docs/design/execution.md §5)."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.core.records.base import Command
from vivero.core.records.effects import Effects, ReplyLater, Send
from vivero.core.records.modifications import PAGES
from vivero.core.state.instance_tree import ACTIVATED, MISSING, Element, InstanceTree
from vivero.core.view import View

ITEMS_RESUMED = 100
"""A quantum takes up all items of an instance tree if they are no more than this."""
ITEMS_RESUMED_OF_MANY = 50
"""If there are more, a quantum takes up this many, the last ones deferred. Few, as it may have to defer them again."""
TERMINATIONS_RESUMED_OF_MANY = 200
"""Or this many if they are all ends of elements, which are cheap."""
MAX_ATTEMPTS = 100
"""A command about a whole instance waits behind at most this many quanta of deferred work."""


def put_off(command: Command) -> Effects:
    """Handle the command again behind the next quantum of deferred work, and answer its request then."""
    again = msgspec.structs.replace(command, attempt=command.attempt + 1)
    return (Send(again, later=True, again=True), ReplyLater())


def next_page(tree: InstanceTree) -> tuple[int, str, Any] | None:
    """The item that goes on with an operation in pages. Until there is none, nothing else happens in the tree."""
    if tree.paging[0] is not tree.work:  # each command about the tree asks, and there may be 20,000 items
        tree.paging = tree.work, next((item for item in tree.work if item[1] in PAGES), None)
    return tree.paging[1]


def next_work(tree: InstanceTree) -> tuple[tuple[int, str, Any], ...]:
    """The items that the next quantum takes up."""
    if (page := next_page(tree)) is not None:
        return (page,)
    items = tree.work if len(tree.work) <= ITEMS_RESUMED else tree.work[-TERMINATIONS_RESUMED_OF_MANY:]
    if len(items) > ITEMS_RESUMED and not all(stage == "terminate" for _, stage, _ in items):
        items = items[-ITEMS_RESUMED_OF_MANY:]
    return items if tree.loaded_work is None else items[max(len(items) - tree.loaded_work, 0) :]


def is_deferred(scope: Element, view: View, *stages: str) -> bool:
    """Whether one of these stages of the scope is deferred."""
    work = scope.tree.work
    if not work:
        return False
    if view.deferred[0] is not work:  # thousands of elements ask while the work is the same
        view.deferred = work, frozenset((key, stage) for key, stage, _ in work)
    key, deferred = scope.key, view.deferred[1]
    for stage in stages:  # noqa: SIM110  # a generator costs as much again
        if (key, stage) in deferred:
            return True
    return False


def is_idle(scope: Element, stage: str) -> bool:
    """Whether settling the scope would do nothing: it waits for its children, and the end of a child queues it again.

    A chain of calls has many such scopes, and each quantum would write them again."""
    return (
        stage == "settle"
        and bool(scope.live)
        and scope.state is ACTIVATED
        and scope.then is None
        and scope.loop is None
        and scope.ad_hoc is None
        and not scope.waits.incidents
        and scope.node is not MISSING
        and not scope.node.joins
    )
