"""The cluster: topology, status, license, current user."""

from __future__ import annotations

from typing import Any

from vivero.api.problems import LATER, Problem
from vivero.api.reading import read
from vivero.api.request import Request
from vivero.api.response import Response, json_response, no_content
from vivero.api.services import Services
from vivero.engine.core.records.base import DEFAULT_TENANT
from vivero.storage import reads


async def topology(_request: Request, services: Services) -> Response:
    """GET /v2/topology: this node as a broker, with its role in each partition."""
    settings = services.settings
    cluster = await read(services, reads.cluster)
    healthy = services.status.healthy
    broker = {
        "nodeId": 0,
        "brokerId": services.node,
        "host": settings.host,
        "port": settings.port,
        "version": settings.version,
        "partitions": [_partition(partition, services.node, healthy) for partition in cluster.partitions],
    }
    return json_response(
        {
            "brokers": [broker],
            "clusterId": cluster.id,
            "clusterSize": 1,
            "partitionsCount": len(cluster.partitions),
            "replicationFactor": 1,
            "gatewayVersion": settings.api_version,
            "lastCompletedChangeId": "-1",
        }
    )


def _partition(partition: reads.Partition, node: str, healthy: bool) -> dict[str, Any]:
    role = "inactive" if partition.owner is None else "leader" if partition.owner == node else "follower"
    sound = healthy and partition.owner is not None
    return {
        "partitionId": partition.id,
        "role": role,
        "health": "healthy" if sound else "unhealthy",
        "state": "active",
    }


async def status(_request: Request, services: Services) -> Response:
    """GET /v2/status: 204 while every part of the program makes progress, otherwise 503."""
    if not services.status.healthy:
        detail = "A part of the program makes no progress; its log has the details"
        raise Problem(503, "UNAVAILABLE", detail, LATER)
    return no_content()


async def license(_request: Request, _services: Services) -> Response:
    """GET /v2/license: the open-source licence, which is always valid."""
    return json_response({"validLicense": True, "licenseType": "Apache-2.0", "isCommercial": False, "expiresAt": None})


async def me(_request: Request, _services: Services) -> Response:
    """GET /v2/authentication/me: without authentication, all clients are one user with all rights."""
    tenant = {"tenantId": DEFAULT_TENANT, "name": "Default", "description": None}
    return json_response(
        {
            "username": "anonymous",
            "displayName": None,
            "email": None,
            "authorizedComponents": ["*"],
            "tenants": [tenant],
            "groups": [],
            "roles": [],
            "salesPlanType": None,
            "c8Links": {},
            "canLogout": False,
        }
    )
