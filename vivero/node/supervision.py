"""The supervision of a node's tasks: the supervisor, and the probe of the event loop."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.supervision.loop_probe import LoopProbe
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.supervisor import Supervisor
from vivero.node.part import NodePart


class Supervision(NodePart):
    """The supervisor exists before its children, so that parts may add some later."""

    def __init__(self, settings: SupervisionSettings) -> None:
        self.supervisor = Supervisor((), settings)
        self.probe = LoopProbe()
        """Measures the longest time for which the event loop served nobody."""

    def figures(self) -> Iterator[object]:
        yield self.supervisor
        yield self.probe
