"""The background jobs of a node, as the supervision tree sees them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.jobs.configured import check_types, configured
from vivero.engine.jobs.definitions import JobRegistry
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.jobs.execution import Connections as Lent
from vivero.engine.jobs.span_names import no_spans
from vivero.engine.jobs.traces import JobSpans
from vivero.engine.supervision.children import Child
from vivero.engine.tracing.tracer import Tracer
from vivero.node import job_modules
from vivero.node.chores import no_connections, registries
from vivero.node.node_events import NodeEvents
from vivero.node.part import NodePart
from vivero.storage.background.job_executions import JOBS_CHANNEL
from vivero.storage.cluster.clock import CLOCK_CHANNEL
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.plans import CHORES
from vivero.storage.postgres.pool import Pool
from vivero.storage.postgres.primary import Primary

NAME = "jobs"


def check(config: Config) -> None:
    """Raises BadJobs if the module of jobs cannot be used, or if settings of jobs do not fit the jobs."""
    registry = _registry(config, lambda: no_connections)
    ours = list(registries(config, no_connections).values())
    try:
        check_types(config.jobs, [name for each in (registry, *ours) for name in each.definitions])
        for each in (registry, *ours):
            configured(each, config.jobs)
    except ValueError as error:
        raise job_modules.BadJobs(str(error)) from error


def _registry(config: Config, connections: Callable[[], Lent], tracer: Tracer | None = None) -> JobRegistry:
    """The jobs of the user, and the outbox webhook if there is one."""
    registry = job_modules.load(config.jobs.module)
    if not config.outbox.url or not config.outbox.types:
        return registry
    from vivero.engine.connectors.outbox.deliveries import Outbox  # httpx: with rich, a tenth of a start

    return JobRegistry.of((*registry.definitions.values(), Outbox(config.outbox, connections, tracer).definition()))


class BackgroundJobs(NodePart):
    """The dispatcher, and the pool for the transactions of its runs. Without jobs there is neither.

    The program's own chores have a dispatcher of their own.

    Raises:
        BadJobs: the module of jobs cannot be used.
    """

    def __init__(self, config: Config, primary: Primary, node: str, tracer: Tracer | None = None) -> None:
        self.registry = _registry(config, lambda: self._lent, tracer)
        self._pool: Pool | None = None
        self.dispatcher: JobDispatcher | None = None
        if self.registry.definitions and config.has_role(Role.JOBS):
            self._pool = Pool(self._connect(primary), config.jobs.max_concurrent)
            open_one = self._opener(primary)
            spans = no_spans if tracer is None else JobSpans(tracer)
            self.dispatcher = JobDispatcher(
                open_one, self._pool.connection, node, self.registry, config.jobs, spans=spans
            )

    @staticmethod
    def _connect(primary: Primary) -> Callable[[float], Awaitable[Connection]]:
        return lambda deadline: primary.connect("vivero:job-runs", {}, deadline)

    @staticmethod
    def _opener(primary: Primary) -> Callable[[], Awaitable[Connection]]:
        return lambda: primary.connect("vivero:jobs", CHORES)

    def children(self) -> Iterator[Child]:
        """The dispatcher, if the node has jobs."""
        if (dispatcher := self.dispatcher) is not None:
            yield Child(NAME, dispatcher.run, self._shut, dispatcher.drain)

    def figures(self) -> Iterator[object]:
        if self.dispatcher is not None:
            yield self.dispatcher

    @property
    def _lent(self) -> Lent:
        """Lends the connections of runs."""
        if self._pool is None:
            raise RuntimeError("a node without the role `jobs` runs no jobs")
        return self._pool.connection

    def _shut(self) -> None:
        if self.dispatcher is not None and self._pool is not None:
            self.dispatcher.close()
            self._pool.abort()

    def hears(self, events: NodeEvents) -> None:
        """Look when executions were added or changed, or the clock changed, and when a partition has new events."""
        if (dispatcher := self.dispatcher) is not None:
            events.channels.changed(dispatcher.wake, JOBS_CHANNEL, CLOCK_CHANNEL)
            events.progress.append(dispatcher.committed)

    async def close(self) -> None:
        """Close the idle connections, when the program ends."""
        if self._pool is not None:
            self._pool.close()
