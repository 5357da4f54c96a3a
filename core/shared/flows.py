"""Enter elements with tokens."""

from __future__ import annotations

from collections.abc import Sequence

from vivero.core.bpmn.model import Node
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementActivating
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def enter(
    node: Node, scope: Element, view: View, consumes: Sequence[str] = (), occurred: dict[str, str] | None = None
) -> Effects:
    """Activate `node` in `scope`. One event carries the decision and the consumed tokens (docs/design/execution.md §3).

    `occurred`: the node is an event that has already occurred, with these variables (JSON text).
    """
    key = view.key()
    return (ElementActivating(key, scope.key, node.id, node.entered_as, tuple(consumes), -1, node.name, occurred),)


def enter_inner(node: Node, body: Element, index: int, view: View) -> Effects:
    """Activate one inner instance of a multi-instance activity."""
    return (ElementActivating(view.key(), body.key, node.id, node.type, (), index, node.name),)
