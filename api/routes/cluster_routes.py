"""The routes of the cluster, its nodes and its settings, as a part of the table of contents."""

from __future__ import annotations

from vivero.api.access.needs import ANY_CALLER, PUBLIC, READ_SYSTEM, READ_USAGE_METRIC, UPDATE_SYSTEM
from vivero.api.callers.audited import SYSTEM
from vivero.api.routes import cluster, cluster_figures, probes, system
from vivero.api.routes.route import Route

CLUSTER_ROUTES = (
    Route("GET", "/v2/topology", cluster.topology, ANY_CALLER),
    Route("GET", "/v2/status", cluster.status, PUBLIC),
    Route("GET", "/v2/license", cluster.license, PUBLIC),
    Route("GET", "/v2/authentication/me", cluster.me, ANY_CALLER),
    Route("GET", "/v2/system/usage-metrics", system.usage_metrics, READ_USAGE_METRIC),
    Route("GET", "/v2/system/configuration", system.configuration, ANY_CALLER),
    Route("GET", "/cluster/v2/status", cluster.whole_status, PUBLIC),
    Route("GET", "/cluster/v2/topology", cluster.whole_topology, ANY_CALLER),
    Route("GET", "/live", probes.live, PUBLIC),
    Route("GET", "/startup", probes.startup, PUBLIC),
    Route("GET", "/ready", probes.ready, PUBLIC),
    Route("GET", "/metrics", probes.metrics, READ_SYSTEM),
    Route("GET", "/cluster/status", cluster.node_status, READ_SYSTEM),
    Route("GET", "/cluster/nodes", cluster.list_nodes, READ_SYSTEM),
    Route("GET", "/cluster/figures", cluster_figures.get, READ_SYSTEM),
    Route("PUT", "/cluster/nodes/{nodeId}/draining", cluster.drain, UPDATE_SYSTEM, audited=SYSTEM),
    Route("DELETE", "/cluster/nodes/{nodeId}/draining", cluster.undo_drain, UPDATE_SYSTEM, audited=SYSTEM),
    Route("PUT", "/cluster/nodes/{nodeId}/log-levels", cluster.set_log_levels, UPDATE_SYSTEM, audited=SYSTEM),
    Route("DELETE", "/cluster/nodes/{nodeId}/log-levels", cluster.reset_log_levels, UPDATE_SYSTEM, audited=SYSTEM),
)
