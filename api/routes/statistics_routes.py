"""The routes of statistics, as a part of the table of contents."""

from __future__ import annotations

from vivero.api.access.needs import READ_INSTANCE, READ_JOB_METRIC
from vivero.api.access.scopes import Scope
from vivero.api.routes import agent_calls, statistics
from vivero.api.routes.route import Route

GROUPS = (
    ("process-definitions/statistics/process-instances", statistics.instances_by_process),
    ("process-definitions/statistics/process-instances-by-version", statistics.instances_by_version),
    ("process-definitions/statistics/message-subscriptions", statistics.message_subscriptions_by_definition),
    ("incidents/statistics/by-cause", statistics.incidents_by_cause),
    ("incidents/statistics/process-instances-by-error", statistics.instances_by_error),
    ("incidents/statistics/process-instances-by-definition", statistics.instances_by_definition),
)
"""Path below /v2 and handler of what is counted by group, among the processes of the caller."""

BY_KEY = (
    ("POST", "process-definitions/{processDefinitionKey}/statistics/element-instances", statistics.of_definition),
    (
        "GET",
        "process-definitions/{processDefinitionKey}/statistics/element-durations",
        statistics.durations_of_definition,
    ),
    ("GET", "process-definitions/{processDefinitionKey}/statistics/cycle-times", statistics.cycle_times),
    ("GET", "process-definitions/{processDefinitionKey}/statistics/agent-calls", agent_calls.of_process),
    ("GET", "process-instances/{processInstanceKey}/statistics/element-instances", statistics.of_instance),
    ("GET", "process-instances/{processInstanceKey}/statistics/wait-states", statistics.wait_states),
)

OF_JOBS = (
    ("GET", "global", statistics.all_jobs),
    ("POST", "by-types", statistics.jobs_by_type),
    ("POST", "by-workers", statistics.jobs_by_worker),
    ("POST", "time-series", statistics.jobs_by_time),
    ("POST", "errors", statistics.jobs_by_error),
)
"""Types of jobs belong to no process: they are for callers that may see the numbers of all jobs."""

STATISTICS_ROUTES = (
    Route("GET", "/v2/process-instances/statistics/by-day", statistics.by_day, READ_INSTANCE, scope=Scope.RESULTS),
    *(Route(method, f"/v2/jobs/statistics/{path}", handler, READ_JOB_METRIC) for method, path, handler in OF_JOBS),
    *(Route("POST", f"/v2/{path}", handler, READ_INSTANCE, scope=Scope.RESULTS) for path, handler in GROUPS),
    *(Route(method, f"/v2/{path}", handler, READ_INSTANCE, scope=Scope.KEY) for method, path, handler in BY_KEY),
)
