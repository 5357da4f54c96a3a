"""The parts of a program that metrics tell of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vivero.api.http1.figures import HttpFigures
from vivero.api.long_polls import LongPolls
from vivero.api.metrics import RequestFigures
from vivero.connections import Pools
from vivero.engine.jobs.dispatcher import JobDispatcher
from vivero.engine.runtime.appender.task import Appender
from vivero.engine.runtime.completions import Completions
from vivero.engine.runtime.compute.pool import ComputePool
from vivero.engine.runtime.consumer.leadership import Consumer
from vivero.engine.runtime.counts_by_type import CountsByType
from vivero.engine.runtime.database_figures import DatabaseFigures
from vivero.engine.runtime.definitions import DefinitionCache
from vivero.engine.runtime.supervision.loop_probe import LoopProbe
from vivero.engine.runtime.supervision.supervisor import Supervisor
from vivero.engine.runtime.timers.task import Timers
from vivero.tracing.node import NodeTracing
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
