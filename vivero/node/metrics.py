"""The metrics of a node, as the supervision tree sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain

from vivero.api.http.metrics import Metrics, RequestFigures
from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.supervision.children import Child
from vivero.metrics.database_figures import DatabaseFigures
from vivero.metrics.lazy_exposition import lazy_exposition
from vivero.metrics.sources import Sources
from vivero.node.connections import Connections
from vivero.node.part import NodePart
from vivero.storage.cluster.nodes import ClusterView, Node
from vivero.storage.postgres.plans import BY_INDEX

READ_TIMEOUT = "4s"


def reads_database(view: ClusterView, node: str) -> bool:
    """Whether this node reads the figures of the database: it is the first live one with the role `jobs`. For a moment
    two nodes may both read, when one comes back."""
    first = min((one for one in view.nodes if one.live and Role.JOBS in one.roles), key=_number, default=None)
    return first is not None and first.id == node


def _number(node: Node) -> int:
    return node.number


class NodeMetrics(NodePart):
    """Counters for metrics alone, and their tasks. OpenTelemetry is imported only when somebody asks for metrics."""

    def __init__(self, config: Config, connections: Connections, node: str, view: Callable[[], ClusterView]) -> None:
        """`view()` is what this node knows of the cluster."""
        self._config = config
        self.sources: list[Callable[[], Iterable[object]]] = []
        """Give the objects whose numbers are shown."""
        self.requests = RequestFigures()
        self.database = DatabaseFigures(
            connections.dedicated("figures", statement_timeout=READ_TIMEOUT, **BY_INDEX),
            config.metrics.database_every_s,
            lambda: reads_database(view(), node),
        )
        self.shown: Callable[[], Awaitable[Metrics]] | None = None
        """The metrics as text; None: they are off."""
        if config.metrics.enabled:
            self._exposition = lazy_exposition(self._collect, node, config.api.version)
            self.shown = self._text

    @property
    def shown_by_api(self) -> Callable[[], Awaitable[Metrics]] | None:
        """The metrics for the API; None: they are off, or have a port of their own."""
        return self.shown if self._config.metrics.port is None else None

    def figures(self) -> Iterator[object]:
        yield self.requests
        yield self.database

    def _collect(self) -> Sources:
        return Sources(chain.from_iterable(give() for give in self.sources))

    async def _text(self) -> Metrics:
        return await (await self._exposition.get()).text()

    def children(self) -> Iterator[Child]:
        """The tasks of metrics."""
        settings = self._config.metrics
        if not settings.enabled:
            return
        if settings.database_every_s and self._config.has_role(Role.JOBS):
            yield Child("figures", self.database.run, self.database.close)
        if settings.has_tasks:
            from vivero.metrics import tasks

            yield from tasks.children(settings, self._exposition, self._config.http)
