"""The base of the parts of a node: tasks, subscriptions, figures."""

from __future__ import annotations

from collections.abc import Iterable

from vivero.engine.supervision.children import Child
from vivero.node.node_events import NodeEvents


class NodePart:
    """A part of a node. `tree.build` connects the parts; each method does nothing unless a part has its own."""

    __slots__ = ()

    def hears(self, events: NodeEvents) -> None:
        """Subscribe to events, before any task runs."""

    def children(self) -> Iterable[Child]:
        """The tasks that the settings ask for. All parts have subscribed."""
        return ()

    def figures(self) -> Iterable[object]:
        """The objects whose numbers metrics read (`vivero/metrics/instruments.py`). Called for each answer."""
        return ()

    async def close(self) -> None:
        """Give back what is left, after all tasks have ended."""
