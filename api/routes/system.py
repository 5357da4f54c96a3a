"""The use of the system, and those of its settings that clients must know."""

from __future__ import annotations

from vivero.api.http.decoding import time_in_query
from vivero.api.http.problems import invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import JOB_TYPE_BYTES, TENANT_ID_CHARACTERS
from vivero.storage.reads import usage_metrics as metrics
from vivero.storage.search.job_statistics import PERIOD_S, WORKER_CHARACTERS

UNLIMITED = 2**31 - 1
"""The number of types and workers that statistics of jobs keep apart, which must be a number."""


async def usage_metrics(request: Request, services: Services) -> Response:
    """GET /v2/system/usage-metrics: what was started, evaluated and assigned in a time, in the caller's tenants."""
    start, end = time_in_query(request, "startTime"), time_in_query(request, "endTime")
    if end < start:
        raise invalid_argument("The endTime must not be before the startTime")
    tenant, with_tenants = request.query.get("tenantId"), request.flag("withTenants", False)
    total, by_tenant = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: metrics.usage(connection, start, end, tenant, tenants),
    )
    return json_response({**total, "activeTenants": len(by_tenant), "tenants": by_tenant if with_tenants else {}})


async def configuration(_request: Request, services: Services) -> Response:
    """GET /v2/system/configuration: limits and switches. The console is none of Camunda's components."""
    access = services.access
    return json_response(
        {
            "jobMetrics": {
                "enabled": True,
                "exportInterval": f"PT{PERIOD_S // 60}M",
                "maxWorkerNameLength": WORKER_CHARACTERS,
                "maxJobTypeLength": JOB_TYPE_BYTES,
                "maxTenantIdLength": TENANT_ID_CHARACTERS,
                "maxUniqueKeys": UNLIMITED,
            },
            "components": {"active": []},
            "deployment": {
                "isMultiTenancyEnabled": access.multi_tenancy,
                "maxRequestSize": services.settings.max_deployment_bytes,
            },
            "authentication": {
                "canLogout": access.authenticator is not None,
                "isLoginDelegated": access.login_delegated,
            },
            "cloud": {"stage": None},
        }
    )
