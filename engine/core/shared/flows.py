"""Tokens entering elements."""

from __future__ import annotations

from collections.abc import Sequence

from engine.bpmn.model import Node
from engine.core.records import Effects, ElementActivating
from engine.core.state import Element
from engine.core.view import View


def enter(node: Node, scope: Element, at: View, consumes: Sequence[str] = (), index: int = -1) -> Effects:
    """Activate `node` in `scope`. The decision and what it takes are one event (CORE D3)."""
    yield ElementActivating(at.key(), scope.key, node.id, node.type, tuple(consumes), index, node.name)
