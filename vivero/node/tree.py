"""The supervision tree: all tasks of a running program. `build` connects the parts; each module below makes one.

        HTTP ──► api ──► appender ──► command_log
                 ▲                        │ wake, NOTIFY
                 │ completions            ▼
                 └──────────────────── consumer ──► state, events and cursor in one transaction
                                          │
listener ◄── NOTIFY ◄── announcer ◄───────┘

    http_server, api_services   the REST API, the pages, and what they get from the others
    engine_tasks                appender, cluster, a consumer and timers for each partition
    background, chores          the dispatchers of background jobs: the user's, and those that keep tables small
    connector_tasks             the role `jobs`, if connectors are enabled: the jobs of connectors
    node_events                 who hears of what
    stopping                    the order in which the tasks end
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import trio

from vivero.api.services import Services
from vivero.api.serving.server import Endpoint
from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.core.bpmn.reading.xml import LIMITS
from vivero.engine.appender.calls import PendingCommand
from vivero.engine.compute.models import model_reader
from vivero.engine.compute.pool import ComputePool
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.outcomes.completions import Completions
from vivero.engine.siblings.task import Siblings
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.loop_probe import LoopProbe
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.supervision.watchdog import Watchdog
from vivero.metrics.parts import Parts
from vivero.node.api_services import api_services
from vivero.node.background import BackgroundJobs
from vivero.node.connections import Connections, Pools, open_pools
from vivero.node.connector_tasks import ConnectorTasks
from vivero.node.engine_tasks import EngineTasks
from vivero.node.http_server import HttpServer
from vivero.node.metrics import NodeMetrics
from vivero.node.notifications import Notifications
from vivero.node.outcome_waits import OutcomeWaits
from vivero.node.stopping import stop_in_order
from vivero.storage.log import attempts
from vivero.storage.postgres.plans import ONCE
from vivero.storage.postgres.primary import Primary
from vivero.tracing.node import NodeTracing


@dataclass(slots=True)
class Tree:
    """The parts of a running program that are needed outside `build`."""

    supervisor: Supervisor
    engine: EngineTasks
    completions: Completions
    pools: Pools
    jobs: BackgroundJobs
    connectors: ConnectorTasks
    metrics: NodeMetrics
    tracing: NodeTracing
    compute: ComputePool
    probe: LoopProbe
    """Measures the longest time for which the event loop served nobody."""


def build(
    config: Config,
    dsn: str,
    node: str,
    endpoint: Endpoint,
    others: Sequence[Child] = (),
    siblings_directory: Path | None = None,
) -> Tree:
    """All parts, connected. `node` is unique to this process; `others` are children that supervise PostgreSQL.
    `siblings_directory` has the sockets of the processes of one program, if there are several."""
    connections = Connections(Primary(dsn))
    tracing = NodeTracing(config, node)
    pools = open_pools(config, connections)
    limits = replace(LIMITS, feel=config.feel.limits)
    completions = Completions(connections.dedicated("completions", **ONCE))
    compute = ComputePool(config.compute, config.processes)
    definitions = DefinitionCache(pools.reads.connection, config.definitions, model_reader(compute, limits))
    notifications = Notifications(config, connections)
    events = notifications.events
    siblings = None
    if siblings_directory is not None:
        siblings = Siblings(siblings_directory, node, completions, lambda: engine.appender, lambda: engine.cluster.view)
    engine = EngineTasks(
        config, connections, node, definitions, events, lambda *new: supervisor.add(*new),
        None if siblings is None else siblings.take, tracing.tracer, pools.reads,
        work=trio.open_memory_channel[PendingCommand](config.appender.work_channel),  # requests → appender
    )  # fmt: skip
    http = HttpServer(config, pools, engine.handovers)
    jobs = BackgroundJobs(config, connections.primary, node, tracing.tracer)
    connectors = ConnectorTasks(config, connections, pools.reads, engine.appender, definitions, tracing.tracer)
    waits = OutcomeWaits(config, completions)
    for part in (waits, http, engine, jobs, connectors):
        part.hears(events)
    probe = LoopProbe()
    metrics = NodeMetrics(config, connections, node, lambda: engine.cluster.view, lambda: parts)

    def services() -> Services:
        return api_services(
            config, node, limits, pools=pools, completions=completions, definitions=definitions, engine=engine,
            http=http, connectors=connectors, events=events, supervisor=supervisor, metrics=metrics,
            tracer=tracing.tracer, archive=engine.archive, compute=compute,
        )  # fmt: skip

    def children() -> Iterator[Child]:
        yield http.child(endpoint, services)
        yield from engine.children()
        yield from jobs.children()
        yield from connectors.children()
        yield from waits.children()
        yield from notifications.children()
        if siblings is not None and config.has_role(Role.API, Role.ENGINE):
            yield Child("siblings", siblings.run)
        yield Child("compute", compute.run)
        yield from metrics.children()
        yield from others

    supervisor = Supervisor(children(), config.supervision)
    parts = Parts(
        supervisor, engine.appender, engine.consumers, engine.jobs, engine.timers, completions, definitions, compute,
        pools, http.long_polls, http.hub, endpoint.figures, metrics.requests, probe, metrics.database, jobs.dispatcher,
        tracing,
    )  # fmt: skip
    return Tree(supervisor, engine, completions, pools, jobs, connectors, metrics, tracing, compute, probe)


async def run(
    config: Config,
    dsn: str,
    node: str,
    endpoint: Endpoint,
    stop: trio.Event,
    started: Callable[[Tree], None] = lambda _tree: None,
    others: Sequence[Child] = (),
    siblings_directory: Path | None = None,
) -> None:
    """Run until `stop` is set. Then the API and the appender finish their work, and all other tasks are cancelled.

    Raises:
        Escalated: too many failures; the process should exit with a status other than 0.
    """
    tree = build(config, dsn, node, endpoint, others, siblings_directory)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop, tree, stop, config.drain_s, nursery.cancel_scope)
        note = partial(tree.engine.handovers.accuse, partial(attempts.leave_notes, dsn))
        watchdog = Watchdog(config.supervision.blocked_after_s, last_words=note)
        with watchdog.thread(), tree.probe.watching():
            nursery.start_soon(watchdog.run)
            started(tree)
            await tree.supervisor.run()
        nursery.cancel_scope.cancel()
    tree.pools.close()
    await tree.compute.close()
    tree.jobs.close()
    await tree.tracing.close()


async def _stop(tree: Tree, stop: trio.Event, grace_s: float, everything: trio.CancelScope) -> None:
    await stop.wait()
    await stop_in_order(tree.supervisor, tree.completions, grace_s)
    everything.cancel()
