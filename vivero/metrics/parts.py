"""The parts of a program that metrics tell of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vivero.api.activation.long_polls import LongPolls
from vivero.api.http.metrics import RequestFigures
from vivero.api.http1.figures import HttpFigures
from vivero.engine.appender.task import Appender
from vivero.engine.compute.pool import ComputePool
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.counters.counts_by_type import CountsByType
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.loop_probe import LoopProbe
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.timers.task import Timers
from vivero.metrics.database_figures import DatabaseFigures
from vivero.node.connections import Pools
from vivero.node.tracing import NodeTracing
from vivero.web.live import Hub


@dataclass(frozen=True, slots=True)
class Parts:
    """Only numbers are read, so a look costs the tasks nothing."""

    supervisor: Supervisor
    appender: Appender
    consumers: Mapping[int, Consumer]
    job_events: CountsByType
    timers: Mapping[int, Timers]
    completions: Completions
    definitions: DefinitionCache
    compute: ComputePool
    pools: Pools
    long_polls: LongPolls
    hub: Hub
    http: HttpFigures
    requests: RequestFigures
    probe: LoopProbe
    database: DatabaseFigures
    jobs: JobDispatcher | None
    tracing: NodeTracing
