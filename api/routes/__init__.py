"""The table of contents of the REST API: method and path → handler. One module a resource."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from api.request import Request
from api.response import Response
from api.routes import (
    chaos,
    clock,
    cluster,
    commands,
    deployments,
    element_instances,
    expressions,
    incidents,
    job_activation,
    jobs,
    process_definitions,
    process_instances,
    resources,
    timers,
    variables,
)
from api.services import Services
from api.settings import ApiSettings

Handler = Callable[[Request, Services], Awaitable[Response]]


def _json_limit(settings: ApiSettings) -> int:
    return settings.max_body_bytes


def _deployment_limit(settings: ApiSettings) -> int:
    return settings.max_deployment_bytes


@dataclass(frozen=True, slots=True)
class Route:
    """`{name}` in the path stands for one segment."""

    method: str
    path: str
    handler: Handler
    max_body_bytes: Callable[[ApiSettings], int] = _json_limit


ROUTES = (
    # the cluster
    Route("GET", "/v2/topology", cluster.topology),
    Route("GET", "/v2/status", cluster.status),
    Route("GET", "/v2/license", cluster.license),
    Route("GET", "/v2/authentication/me", cluster.me),
    # deployments
    Route("POST", "/v2/deployments", deployments.create, _deployment_limit),
    Route("POST", "/v2/resources/{resourceKey}/deletion", resources.delete),
    # process definitions
    Route("POST", "/v2/process-definitions/search", process_definitions.search),
    Route("GET", "/v2/process-definitions/{processDefinitionKey}", process_definitions.get),
    Route("GET", "/v2/process-definitions/{processDefinitionKey}/xml", process_definitions.xml),
    # process instances
    Route("POST", "/v2/process-instances", process_instances.create),
    Route("POST", "/v2/process-instances/search", process_instances.search),
    Route("GET", "/v2/process-instances/{processInstanceKey}", process_instances.get),
    Route("POST", "/v2/process-instances/{processInstanceKey}/cancellation", process_instances.cancel),
    Route("POST", "/v2/process-instances/{processInstanceKey}/incidents/search", incidents.search_of_instance),
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
    # incidents
    Route("POST", "/v2/incidents/search", incidents.search),
    Route("GET", "/v2/incidents/{incidentKey}", incidents.get),
    Route("POST", "/v2/incidents/{incidentKey}/resolution", incidents.resolve),
    # timers
    Route("POST", "/v2/timers/search", timers.search),
    Route("GET", "/v2/timers/{timerKey}", timers.get),
    Route("PATCH", "/v2/timers/{timerKey}", timers.move),
    Route("POST", "/v2/timers/{timerKey}/trigger", timers.trigger),
    # expressions
    Route("POST", "/v2/expression/evaluation", expressions.evaluate),
    # the clock
    Route("PUT", "/v2/clock", clock.pin),
    Route("POST", "/v2/clock/reset", clock.reset),
    # the log, and its tormentor
    Route("GET", "/v2/commands/{position}", commands.get),
    Route("POST", "/chaos/children/{name}", chaos.hurt),
)
