"""Work that was put off, and that a later command goes on with (docs/design/execution.md §5)."""

from __future__ import annotations

from typing import Any

from vivero.engine.core.state.instance_tree import ACTIVATED, MISSING, Element, Instance

AT_ONCE = 100
"""So much work of a tree is taken up by a slice as a whole."""
OF_MUCH = 50
"""Of more than that so much, what was put off last: each slice writes what it has taken up and puts off again."""


def next_work(root: Instance) -> tuple[tuple[int, str, Any], ...]:
    """What the next slice takes up."""
    return root.work if len(root.work) <= AT_ONCE else root.work[-OF_MUCH:]


def is_deferred(scope: Element, *stages: str) -> bool:
    """Whether a later command is to do one of these stages of the scope."""
    work = scope.root.work
    return bool(work) and any(key == scope.key and one in stages for key, one, _ in work)


def is_idle(scope: Element, stage: str) -> bool:
    """A scope that does nothing before something in it ends, which touches it. There are as many as processes that call
    each other, and each slice would write them again."""
    return (
        stage == "settle"
        and bool(scope.live)
        and scope.state is ACTIVATED
        and scope.then is None
        and scope.loop is None
        and not scope.open_incidents
        and scope.node is not MISSING
        and not scope.node.joins
    )
