"""The table of contents of the REST API: method and path → handler. Each resource has one module."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from vivero.api.request import Request
from vivero.api.response import Response
from vivero.api.routes import (
    chaos,
    clock,
    cluster,
    commands,
    conditionals,
    deployments,
    element_instances,
    expressions,
    incidents,
    job_activation,
    jobs,
    messages,
    process_definitions,
    process_instances,
    resources,
    signals,
    snapshots,
    statistics,
    timers,
    traces,
    user_tasks,
    variables,
)
from vivero.api.services import Services
from vivero.api.settings import ApiSettings

Handler = Callable[[Request, Services], Awaitable[Response]]


def _json_limit(settings: ApiSettings) -> int:
    return settings.max_body_bytes


def _deployment_limit(settings: ApiSettings) -> int:
    return settings.max_deployment_bytes


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `{name}` in the path matches one segment."""

    method: str
    path: str
    handler: Handler
    max_body_bytes: Callable[[ApiSettings], int] = _json_limit
    takes_json: bool = True
    is_new: bool = False
    """Whether its command creates work, and is refused while the engine has too much to do."""


ROUTES = (
    # the cluster
    Route("GET", "/v2/topology", cluster.topology),
    Route("GET", "/v2/status", cluster.status),
    Route("GET", "/v2/license", cluster.license),
    Route("GET", "/v2/authentication/me", cluster.me),
    Route("GET", "/cluster/nodes", cluster.list_nodes),
    Route("PUT", "/cluster/nodes/{nodeId}/draining", cluster.drain),
    Route("DELETE", "/cluster/nodes/{nodeId}/draining", cluster.undo_drain),
    # deployments
    Route("POST", "/v2/deployments", deployments.create, _deployment_limit, takes_json=False, is_new=True),
    Route("POST", "/v2/resources/{resourceKey}/deletion", resources.delete),
    # process definitions
    Route("POST", "/v2/process-definitions/search", process_definitions.search),
    Route("GET", "/v2/process-definitions/{processDefinitionKey}", process_definitions.get),
    Route("GET", "/v2/process-definitions/{processDefinitionKey}/xml", process_definitions.xml),
    Route("GET", "/v2/process-definitions/{processDefinitionKey}/form", process_definitions.form),
    Route(
        "POST",
        "/v2/process-definitions/{processDefinitionKey}/statistics/element-instances",
        statistics.of_definition,
    ),
    # process instances
    Route("POST", "/v2/process-instances", process_instances.create, is_new=True),
    Route("POST", "/v2/process-instances/search", process_instances.search),
    Route("GET", "/v2/process-instances/{processInstanceKey}", process_instances.get),
    Route("POST", "/v2/process-instances/{processInstanceKey}/cancellation", process_instances.cancel),
    Route("POST", "/v2/process-instances/{processInstanceKey}/incidents/search", incidents.search_of_instance),
    Route("GET", "/v2/process-instances/{processInstanceKey}/snapshot", snapshots.get),
    Route("GET", "/v2/process-instances/{processInstanceKey}/trace", traces.get),
    Route("GET", "/v2/process-instances/{processInstanceKey}/call-hierarchy", statistics.call_hierarchy),
    Route("GET", "/v2/process-instances/{processInstanceKey}/sequence-flows", statistics.sequence_flows),
    Route("GET", "/v2/process-instances/{processInstanceKey}/statistics/element-instances", statistics.of_instance),
    # user tasks
    Route("POST", "/v2/user-tasks/search", user_tasks.search),
    Route("GET", "/v2/user-tasks/{userTaskKey}", user_tasks.get),
    Route("PATCH", "/v2/user-tasks/{userTaskKey}", user_tasks.update),
    Route("POST", "/v2/user-tasks/{userTaskKey}/assignment", user_tasks.assign),
    Route("DELETE", "/v2/user-tasks/{userTaskKey}/assignee", user_tasks.unassign),
    Route("POST", "/v2/user-tasks/{userTaskKey}/completion", user_tasks.complete),
    Route("GET", "/v2/user-tasks/{userTaskKey}/form", user_tasks.form),
    Route("POST", "/v2/user-tasks/{userTaskKey}/variables/search", user_tasks.variables),
    Route("POST", "/v2/user-tasks/{userTaskKey}/effective-variables/search", user_tasks.effective),
    # jobs
    Route("POST", "/v2/jobs/activation", job_activation.activate),
    Route("POST", "/v2/jobs/search", jobs.search),
    Route("PATCH", "/v2/jobs/{jobKey}", jobs.update),
    Route("POST", "/v2/jobs/{jobKey}/completion", jobs.complete),
    Route("POST", "/v2/jobs/{jobKey}/failure", jobs.fail),
    Route("POST", "/v2/jobs/{jobKey}/error", jobs.throw_error),
    # variables
    Route("POST", "/v2/variables/search", variables.search),
    Route("GET", "/v2/variables/{variableKey}", variables.get),
    Route("PUT", "/v2/element-instances/{elementInstanceKey}/variables", variables.set),
    # element instances
    Route("POST", "/v2/element-instances/search", element_instances.search),
    Route("GET", "/v2/element-instances/{elementInstanceKey}", element_instances.get),
    Route("POST", "/v2/element-instances/{elementInstanceKey}/incidents/search", incidents.search_of_element),
    # incidents
    Route("POST", "/v2/incidents/search", incidents.search),
    Route("GET", "/v2/incidents/{incidentKey}", incidents.get),
    Route("POST", "/v2/incidents/{incidentKey}/resolution", incidents.resolve),
    # timers
    Route("POST", "/v2/timers/search", timers.search),
    Route("GET", "/v2/timers/{timerKey}", timers.get),
    Route("PATCH", "/v2/timers/{timerKey}", timers.move),
    Route("POST", "/v2/timers/{timerKey}/trigger", timers.trigger),
    # messages and signals
    Route("POST", "/v2/messages/publication", messages.publish, is_new=True),
    Route("POST", "/v2/messages/correlation", messages.correlate, is_new=True),
    Route("POST", "/v2/message-subscriptions/search", messages.search),
    Route("POST", "/v2/correlated-message-subscriptions/search", messages.search_correlated),
    Route("POST", "/v2/signals/broadcast", signals.broadcast, is_new=True),
    Route("POST", "/v2/conditionals/evaluation", conditionals.evaluate, is_new=True),
    # expressions
    Route("POST", "/v2/expression/evaluation", expressions.evaluate),
    # the clock
    Route("PUT", "/v2/clock", clock.pin),
    Route("POST", "/v2/clock/reset", clock.reset),
    # the log, and fault injection
    Route("GET", "/v2/commands/{position}", commands.get),
    Route("POST", "/chaos/children/{name}", chaos.inject),
)
