"""The requests of a node that wait for outcomes, and what they hear of."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.children import Child
from vivero.node.connections import Connections
from vivero.node.node_events import PROCESSED, NodeEvents
from vivero.node.part import NodePart
from vivero.storage.postgres.plans import ONCE


class OutcomeWaits(NodePart):
    """The task that sends outcomes to requests, on nodes with the role `api`, and to connectors."""

    def __init__(self, config: Config, connections: Connections) -> None:
        self._config = config
        self.completions = Completions(connections.dedicated("completions", **ONCE))

    def hears(self, events: NodeEvents) -> None:
        """Subscribe to commits here, and to positions of other nodes, whose outcomes are in the event log."""
        completions = self.completions
        events.outcomes.append(completions.committed)
        events.leads.append(lambda _partition, _epoch: completions.term_began())
        events.channels.announced_of_partitions(PROCESSED, completions.processed)
        events.channels.reconnected.append(completions.sweep_soon)

    def figures(self) -> Iterator[object]:
        yield self.completions

    def children(self) -> Iterator[Child]:
        """The task, with the role `api` or connectors."""
        if self._config.has_role(Role.API) or self._config.works_connectors:
            yield Child("completions", self.completions.run, self.completions.close)
