"""The routes of what belongs to the whole cluster, beside its nodes, as a part of the table of contents."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.api.callers.audited import administration
from vivero.api.callers.permissions import Permission
from vivero.api.routes import cluster_variables, global_task_listeners
from vivero.api.routes.route import Route


def _task_listeners() -> Iterator[Route]:
    """The routes of task listeners of the whole cluster, which concern all tenants."""
    path, listeners = "/v2/global-task-listeners", global_task_listeners
    one = f"{path}/{{id}}"
    for method, where, handler, action, record in (
        ("POST", path, listeners.create, "CREATE", administration("RESOURCE", "CREATE")),
        ("POST", f"{path}/search", listeners.search, "READ", None),
        ("GET", one, listeners.get, "READ", None),
        ("PUT", one, listeners.replace, "UPDATE", administration("RESOURCE", "UPDATE")),
        ("DELETE", one, listeners.delete, "DELETE", administration("RESOURCE", "DELETE")),
    ):
        needs = Permission("GLOBAL_LISTENER", f"{action}_TASK_LISTENER")
        yield Route(method, where, handler, needs, audited=record, of_no_tenant=True)


def _cluster_variables() -> Iterator[Route]:
    """The routes of cluster variables. Every tenant sees those of the whole cluster, which concern all tenants."""
    create, read, update, delete = (
        Permission("CLUSTER_VARIABLE", action) for action in ("CREATE", "READ", "UPDATE", "DELETE")
    )
    yield Route("POST", "/v2/cluster-variables/search", cluster_variables.search, read)
    for path, of_all in (("/v2/cluster-variables/global", True), ("/v2/cluster-variables/tenants/{tenantId}", False)):
        one = f"{path}/{{name}}"
        yield Route("GET", one, cluster_variables.get, read)
        for method, where, handler, needs in (
            ("POST", path, cluster_variables.create, create),
            ("PUT", one, cluster_variables.update, update),
            ("DELETE", one, cluster_variables.delete, delete),
        ):
            record = administration("VARIABLE", needs.action)
            yield Route(method, where, handler, needs, audited=record, of_no_tenant=of_all)


CLUSTER_WIDE_ROUTES = (*_task_listeners(), *_cluster_variables())
