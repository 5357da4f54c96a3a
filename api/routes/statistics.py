"""Statistics of definitions, incidents and elements, taken sequence flows, and the call hierarchy."""

from __future__ import annotations

from collections.abc import Collection

from vivero.api.http.decoding import days_in_query
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_datetime, json_response
from vivero.api.reading import read_of
from vivero.api.search.search_requests import counting, prepare_statistics, problem_of
from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import cycle_times as times
from vivero.storage.reads import instances_by_day, single_reads
from vivero.storage.reads.cycle_times import CycleTime
from vivero.storage.reads.instances_by_day import MAX_DAYS
from vivero.storage.search import job_statistics
from vivero.storage.search.definition_statistics import (
    INSTANCES_BY_PROCESS,
    INSTANCES_BY_VERSION,
    MESSAGE_SUBSCRIPTIONS_BY_DEFINITION,
)
from vivero.storage.search.incident_statistics import BY_CAUSE, INSTANCES_BY_DEFINITION, INSTANCES_BY_ERROR
from vivero.storage.search.problems import BadQuery
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.statistics import run_statistics
from vivero.storage.state.durations import percentiles

jobs_by_type = counting(job_statistics.BY_TYPE)
jobs_by_worker = counting(job_statistics.BY_WORKER)
jobs_by_time = counting(job_statistics.BY_TIME)
jobs_by_error = counting(job_statistics.BY_ERROR)
instances_by_process = counting(INSTANCES_BY_PROCESS)
instances_by_version = counting(INSTANCES_BY_VERSION)
message_subscriptions_by_definition = counting(MESSAGE_SUBSCRIPTIONS_BY_DEFINITION)
instances_by_error = counting(INSTANCES_BY_ERROR)
incidents_by_cause = counting(BY_CAUSE)
instances_by_definition = counting(INSTANCES_BY_DEFINITION)


async def of_instance(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/statistics/element-instances: empty for an unknown instance."""
    key = request.key("processInstanceKey")
    return _items(
        await read_of(
            services,
            request.tenants,
            lambda connection, tenants: single_reads.instance_statistics(connection, key, tenants),
        )
    )


async def wait_states(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/statistics/wait-states: empty for an unknown instance."""
    key = request.key("processInstanceKey")
    return _items(
        await read_of(
            services,
            request.tenants,
            lambda connection, tenants: single_reads.instance_wait_states(connection, key, tenants),
        )
    )


async def of_definition(request: Request, services: Services) -> Response:
    """POST /v2/process-definitions/{key}/statistics/element-instances: for all instances, or those of a filter."""
    key = request.key("processDefinitionKey")
    fits = ("processDefinitionKey", str(key))
    prepared = prepare_statistics(request, PROCESS_INSTANCES, services.settings, fits)
    if prepared is None:
        return _items(
            await read_of(
                services,
                request.tenants,
                lambda connection, tenants: single_reads.definition_statistics(connection, key, tenants),
            )
        )
    return _items(
        await read_of(services, request.tenants, lambda connection, _tenants: run_statistics(connection, prepared))
    )


async def durations_of_definition(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/statistics/element-durations: how long the process and its elements took."""
    key = request.key("processDefinitionKey")
    found = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.element_durations(connection, key, tenants)
    )
    of_process = next((_durations(one) for one in found if one.element == ""), None)
    items = [{"elementId": one.element, **_durations(one)} for one in found if one.element != ""]
    return json_response({"processInstances": of_process, "items": items})


def _durations(found: single_reads.ElementDurations) -> dict[str, int]:
    completed = sum(number for _, number in found.histogram)
    median, most = percentiles(found.histogram, (0.5, 0.95))
    mean = round(found.total_ms / completed)
    return {"completed": completed, "meanMs": mean, "medianMs": median, "percentile95Ms": most}


async def all_jobs(request: Request, services: Services) -> Response:
    """GET /v2/jobs/statistics/global: the jobs that were created, completed and failed in a time."""
    filter = {name: request.query[name] for name in ("from", "to", "jobType") if name in request.query}

    async def query(connection: Connection, tenants: Tenants) -> bytes:
        return await job_statistics.totals(connection, filter, tenants)

    try:
        return json_response(await read_of(services, request.tenants, query))
    except BadQuery as error:
        raise problem_of(error) from error


async def by_day(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/statistics/by-day: what began, ended and failed in each of some days of 24 hours."""
    begins, days = days_in_query(request, MAX_DAYS)
    processes: Collection[str] | None = None if request.allowed is None else request.allowed.ids
    if (only := request.query.get("processDefinitionId")) is not None:
        processes = (only,) if processes is None or only in processes else ()
    tenant = request.query.get("tenantId")
    found = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: instances_by_day.by_day(
            connection, begins, days, processes, tenants if tenant is None else _only(tenant, tenants)
        ),
    )
    items = [
        {
            "startTime": iso_datetime(day.begins),
            "started": day.started,
            "ended": day.completed + day.terminated,
            "completed": day.completed,
            "terminated": day.terminated,
            "incidents": day.incidents,
            "running": day.running,
        }
        for day in found
    ]
    return json_response({"items": items})


def _only(tenant: str, tenants: Tenants) -> Tenants:
    return frozenset({tenant} if tenants is None or tenant in tenants else ())


async def cycle_times(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/statistics/cycle-times: how long instances of each version took, by day (UTC).

    The key may be that of any version of the process. Empty for an unknown one.
    """
    key, (begins, days) = request.key("processDefinitionKey"), days_in_query(request, MAX_DAYS)
    found = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: times.of_versions(connection, key, begins, days, tenants),
    )
    items = [
        {
            "processDefinitionKey": str(one.definition_key),
            "processDefinitionVersion": one.version,
            **_cycle_time(one.in_all),
            "days": [{"startTime": iso_datetime(day), **_cycle_time(time)} for day, time in one.by_day],
        }
        for one in found
    ]
    return json_response({"items": items})


def _cycle_time(time: CycleTime) -> dict[str, int]:
    return {"completed": time.completed, "medianMs": time.median_ms, "percentile90Ms": time.percentile_90_ms}


async def sequence_flows(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/sequence-flows: the taken flows, each once."""
    key = request.key("processInstanceKey")
    return _items(
        await read_of(
            services, request.tenants, lambda connection, tenants: single_reads.sequence_flows(connection, key, tenants)
        )
    )


async def call_hierarchy(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/call-hierarchy: from the root to the instance itself."""
    key = request.key("processInstanceKey")
    entries = await read_of(
        services, request.tenants, lambda connection, tenants: single_reads.call_hierarchy(connection, key, tenants)
    )
    if entries is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    return json_response(entries)


def _items(items: bytes) -> Response:
    return json_response(b'{"items":%b}' % items)
