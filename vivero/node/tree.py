"""The supervision tree: all tasks of a running program. `build` makes the parts of a node, each in a module beside this
one, and connects them. Their tasks are siblings in the nursery of the supervisor, which restarts each by itself:

    part                            tasks
    http_server.HttpServer          api
    engine_tasks.EngineTasks        appender, cluster, warm-up, batch-operations; of each partition consumer and timers
    chores.Chores                   chores
    background.BackgroundJobs       jobs
    connector_tasks.ConnectorTasks  connectors
    outcome_waits.OutcomeWaits      completions
    notifications.Notifications     listener, announcer
    sibling_task.SiblingTask        siblings
    models.Models                   compute
    metrics.NodeMetrics             figures, metrics-push, metrics

What joins them:

    api ─────── work (memory channel) ──────────► appender ── append ──► command_log
    appender ── segments, then a wake-up ───────► consumer ── one transaction ──► state, events and cursor
    consumer ── committed (node_events) ────────► completions, appender, timers, jobs, long polls, announcer
    completions ── a channel of each request ───► api
    announcer ── NOTIFY ──► listener of the others ── node_events ──► a wake-up of each task that has to look

A wake-up (`engine/supervision/wake_up.py`) makes a task look. `stopping` has the order in which the tasks end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from vivero.api.serving.server import Endpoint
from vivero.config.sections import Config
from vivero.engine.appender.calls import PendingCommand
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.supervision.watchdog import Watchdog
from vivero.node.background import BackgroundJobs
from vivero.node.chores import Chores
from vivero.node.connections import Connections, open_pools
from vivero.node.connector_tasks import ConnectorTasks
from vivero.node.engine_tasks import EngineTasks
from vivero.node.http_server import HttpServer
from vivero.node.metrics import NodeMetrics
from vivero.node.models import NodeModels
from vivero.node.notifications import Notifications
from vivero.node.outcome_waits import OutcomeWaits
from vivero.node.part import NodePart
from vivero.node.sibling_task import SiblingTask
from vivero.node.stopping import stop_in_order
from vivero.node.supervision import Supervision
from vivero.node.tracing import NodeTracing
from vivero.storage.log import attempts
from vivero.storage.postgres.primary import Primary


@dataclass(slots=True)
class Tree:
    """The parts of a running program, and those that are needed outside `build`."""

    parts: Sequence[NodePart]
    supervision: Supervision
    engine: EngineTasks
    outcomes: OutcomeWaits
    metrics: NodeMetrics
    tracing: NodeTracing

    @property
    def supervisor(self) -> Supervisor:
        return self.supervision.supervisor


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
    supervision = Supervision(config.supervision)
    supervisor = supervision.supervisor
    notifications = Notifications(config, connections)
    tracing = NodeTracing(config, node)
    events, tracer = notifications.events, tracing.tracer
    pools = open_pools(config, connections)
    models = NodeModels(config, pools)
    outcomes = OutcomeWaits(config, connections)
    engine = EngineTasks(
        config, connections, node, models.definitions, events, supervisor.add, tracer, pools.reads,
        work=trio.open_memory_channel[PendingCommand](config.appender.work_channel),  # requests → appender
    )  # fmt: skip
    connectors = ConnectorTasks(
        config, connections, pools.reads, engine.appender, outcomes.completions, models, tracer, node
    )
    metrics = NodeMetrics(config, connections, node, engine.view)
    http = HttpServer(
        config, node, endpoint, pools=pools, models=models, outcomes=outcomes, engine=engine, connectors=connectors,
        events=events, supervisor=supervisor, metrics=metrics, tracer=tracer,
    )  # fmt: skip
    parts: Sequence[NodePart] = (
        http,
        engine,
        Chores(config, connections, node),
        BackgroundJobs(config, connections.primary, node, tracer),
        connectors,
        outcomes,
        notifications,
        SiblingTask(config, siblings_directory, node, outcomes.completions, engine),
        models,
        metrics,
        pools,
        tracing,
        supervision,
    )
    for part in parts:
        part.hears(events)
        metrics.sources.append(part.figures)
    for part in parts:
        supervisor.add(*part.children())
    supervisor.add(*others)
    return Tree(parts, supervision, engine, outcomes, metrics, tracing)


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
        note = partial(tree.engine.duties.accuse, partial(attempts.leave_notes, dsn))
        watchdog = Watchdog(config.supervision.blocked_after_s, last_words=note)
        with watchdog.thread(), tree.supervision.probe.watching():
            nursery.start_soon(watchdog.run)
            started(tree)
            await tree.supervisor.run()
        nursery.cancel_scope.cancel()
    for part in tree.parts:
        await part.close()


async def _stop(tree: Tree, stop: trio.Event, grace_s: float, everything: trio.CancelScope) -> None:
    await stop.wait()
    await stop_in_order(tree.supervisor, tree.outcomes.completions, grace_s)
    everything.cancel()
