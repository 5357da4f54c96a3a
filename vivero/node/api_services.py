"""The services that the REST API gets from the other parts of a node."""

from __future__ import annotations

import trio

from vivero.api.access.rates import rates
from vivero.api.admission.redirects import Redirects
from vivero.api.admission.waits import Waits
from vivero.api.http.memory_budget import MemoryBudget
from vivero.api.services import Services
from vivero.config.sections import Config
from vivero.core.bpmn.reading.xml import XmlLimits
from vivero.engine.compute.pool import ComputePool
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.outcomes.completions import Completions
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.supervision.supervisor import Supervisor
from vivero.engine.tracing.tracer import Tracer
from vivero.node.connections import Pools
from vivero.node.connector_tasks import ConnectorTasks
from vivero.node.engine_tasks import EngineTasks
from vivero.node.figures import figures
from vivero.node.http_server import HttpServer
from vivero.node.metrics import NodeMetrics
from vivero.node.node_events import NodeEvents


def api_services(
    config: Config,
    node: str,
    limits: XmlLimits,
    *,
    pools: Pools,
    completions: Completions,
    definitions: DefinitionCache,
    engine: EngineTasks,
    http: HttpServer,
    connectors: ConnectorTasks,
    events: NodeEvents,
    supervisor: Supervisor,
    metrics: NodeMetrics,
    tracer: Tracer | None,
    archive: Archive | None,
    compute: ComputePool,
) -> Services:
    """The services of one life of the HTTP server."""
    return Services(
        appender=engine.appender,
        completions=completions,
        definitions=definitions,
        pool=pools.reads,
        leasing=pools.leasing,
        large_jobs=pools.large_jobs,
        long_polls=http.long_polls,
        status=supervisor,
        settings=config.api,
        chaos=supervisor.chaos if config.chaos else None,
        clock_changed=events.clock_changed if config.control_clock else None,
        node=node,
        limits=limits,
        waits=Waits(http.max_waiting),
        pages=MemoryBudget(max(config.api.pages_bytes, config.api.max_page_bytes)),
        figures=lambda: figures(supervisor, engine.consumers, definitions, trio.current_time()),
        metrics=metrics.shown_by_api,
        requests=metrics.requests,
        tracer=tracer,
        routing=http.routing,
        redirects=Redirects(node, lambda: engine.cluster.view) if config.api.redirect_to_leader else None,
        access=http.access,
        check_password=None if http.access is None else http.access.check_password,
        readers=pools.readers,
        rates=rates(config.api),
        multi_tenancy=config.tenants.enabled,
        webhooks=connectors.webhooks,
        audit=config.audit,
        archive=archive,
        archive_deletions=config.retention.archive_deletions,
        compute=compute,
    )
