"""The cluster: topology, nodes, status, license, current user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vivero.api.access.audit import changing
from vivero.api.callers.permissions import Permission
from vivero.api.http.decoding import Body, decode, decoder
from vivero.api.http.problems import LATER, Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_time, json_response, no_content
from vivero.api.reading import read
from vivero.api.services import Services
from vivero.engine.log_levels import problem_of
from vivero.storage.cluster import nodes
from vivero.storage.cluster.nodes import Node, Partition
from vivero.storage.reads import single_reads

ACCESS_COMPONENT = Permission("COMPONENT", "ACCESS")
PHYSICAL_TENANT = "default"
APPENDER = "appender"
"""The task without which no command is taken."""


async def topology(_request: Request, services: Services) -> Response:
    """GET /v2/topology: the live engine nodes as brokers, with their roles in each partition. This node comes first."""
    return json_response(await _topology(services))


async def _topology(services: Services) -> dict[str, Any]:
    view = await read(services, nodes.view)
    engines = [node for node in view.nodes if node.live and nodes.ENGINE in node.roles]
    engines.sort(key=lambda node: (node.id != services.observing.node, node.number))
    brokers = [_broker(node, view.partitions, services) for node in engines]
    return {
        "brokers": brokers,
        "clusterId": await read(services, single_reads.cluster_id),
        "clusterSize": len(brokers),
        "partitionsCount": len(view.partitions),
        "replicationFactor": 1,
        "gatewayVersion": services.settings.api_version,
        "lastCompletedChangeId": "-1",
    }


def _broker(node: Node, partitions: Sequence[Partition], services: Services) -> dict[str, Any]:
    healthy = node.id != services.observing.node or services.observing.status.healthy
    return {
        "nodeId": node.number,
        "brokerId": node.id,
        "host": node.host,
        "port": node.port,
        "version": node.version,
        "partitions": [_partition(partition, node.id, healthy) for partition in partitions],
    }


def _partition(partition: Partition, node: str, healthy: bool) -> dict[str, Any]:
    role = "inactive" if partition.leader is None else "leader" if partition.leader == node else "follower"
    sound = healthy and partition.leader is not None
    return {
        "partitionId": partition.id,
        "role": role,
        "health": "healthy" if sound else "unhealthy",
        "state": "active",
    }


async def whole_topology(_request: Request, services: Services) -> Response:
    """GET /cluster/v2/topology: the same nodes and partitions, as those of the only physical tenant."""
    found = await _topology(services)
    brokers = found["brokers"]
    physical_tenant = {
        "physicalTenantId": PHYSICAL_TENANT,
        "partitionsCount": found["partitionsCount"],
        "replicationFactor": found["replicationFactor"],
        "lastCompletedChangeId": found["lastCompletedChangeId"],
        "brokers": [{name: broker[name] for name in ("brokerId", "partitions")} for broker in brokers],
    }
    return json_response(
        {
            "brokers": [{name: broker[name] for name in ("brokerId", "host", "port", "version")} for broker in brokers],
            "clusterId": found["clusterId"],
            "clusterSize": found["clusterSize"],
            "gatewayVersion": found["gatewayVersion"],
            "physicalTenants": [physical_tenant],
        }
    )


async def list_nodes(_request: Request, services: Services) -> Response:
    """GET /cluster/nodes: all nodes, their roles, versions and heartbeats, and the partitions that they lead."""
    view = await read(services, nodes.view)
    described = [_node(node, view.partitions) for node in view.nodes]
    without_leader = [partition.id for partition in view.partitions if partition.leader is None]
    return json_response(
        {"nodes": described, "thisNode": services.observing.node, "partitionsWithoutLeader": without_leader}
    )


def _node(node: Node, partitions: Sequence[Partition]) -> dict[str, Any]:
    state = ("DRAINING" if node.draining else "LIVE") if node.live else "DEAD"
    return {
        "nodeId": node.id,
        "number": node.number,
        "state": state,
        "roles": node.roles,
        "version": node.version,
        "schemaVersion": node.schema,
        "logLevels": node.log_levels,
        "host": node.host,
        "port": node.port,
        "address": node.address,
        "started": iso_time(node.started_ms),
        "heartbeat": iso_time(node.heartbeat_ms),
        "partitions": [partition.id for partition in partitions if partition.leader == node.id],
    }


async def node_status(_request: Request, services: Services) -> Response:
    """GET /cluster/status: this node's health, and the figures of its tasks, partitions and caches."""
    return json_response(
        {
            "nodeId": services.observing.node,
            "healthy": services.observing.status.healthy,
            **services.observing.figures(),
        }
    )


async def drain(request: Request, services: Services) -> Response:
    """PUT /cluster/nodes/{nodeId}/draining: the node hands its partitions over to others. 404: no such node."""
    return await _set_draining(request, services, True)


async def undo_drain(request: Request, services: Services) -> Response:
    """DELETE /cluster/nodes/{nodeId}/draining: the node gets its share of partitions again."""
    return await _set_draining(request, services, False)


async def _set_draining(request: Request, services: Services, draining: bool) -> Response:
    async with changing(request, services) as connection:
        _found(request, await nodes.set_draining(connection, request.params["nodeId"], draining))
    return no_content()


class LogLevelsBody(Body, frozen=True):
    levels: dict[str, str] | None = None


_log_levels_decoder = decoder(LogLevelsBody)


async def set_log_levels(request: Request, services: Services) -> Response:
    """PUT /cluster/nodes/{nodeId}/log-levels {levels}: what single loggers of the node log from now on. This replaces
    earlier changes; the settings hold for all other loggers. 404: no such node."""
    levels = decode(request, _log_levels_decoder, services.settings).levels
    if levels is None:
        raise invalid_argument("No levels provided")
    if (problem := problem_of(levels)) is not None:
        raise invalid_argument(problem)
    return await _set_log_levels(request, services, levels)


async def reset_log_levels(request: Request, services: Services) -> Response:
    """DELETE /cluster/nodes/{nodeId}/log-levels: the node's loggers have the levels of its settings again."""
    return await _set_log_levels(request, services, {})


async def _set_log_levels(request: Request, services: Services, levels: Mapping[str, str]) -> Response:
    async with changing(request, services) as connection:
        _found(request, await nodes.set_log_levels(connection, request.params["nodeId"], levels))
    return no_content()


def _found(request: Request, found: bool) -> None:
    if not found:
        node = request.params["nodeId"][:200]
        raise Problem(404, "NOT_FOUND", f"There is no node '{node}'; GET /cluster/nodes lists them")


async def status(_request: Request, services: Services) -> Response:
    """GET /v2/status: 204 while every part of the program makes progress, otherwise 503."""
    if not services.observing.status.healthy:
        failing = ", ".join(child.name for child in services.observing.status.health() if not child.healthy)
        detail = f"A part of the program makes no progress: {failing}; its log has the details"
        raise Problem(503, "UNAVAILABLE", detail, LATER)
    return no_content()


async def whole_status(_request: Request, services: Services) -> Response:
    """GET /cluster/v2/status: HEALTHY, DEGRADED while a part makes no progress, DOWN (503) while nothing is taken."""
    failing = {child.name for child in services.observing.status.health() if not child.healthy}
    status = "DOWN" if APPENDER in failing else "DEGRADED" if failing else "HEALTHY"
    return json_response({"status": status}, status=503 if status == "DOWN" else 200)


async def license(_request: Request, _services: Services) -> Response:
    """GET /v2/license: the open-source licence, which is always valid."""
    return json_response({"validLicense": True, "licenseType": "Apache-2.0", "isCommercial": False, "expiresAt": None})


async def me(request: Request, _services: Services) -> Response:
    """GET /v2/authentication/me: the caller. Without authentication, all clients are one user with all rights."""
    caller = request.caller
    components = caller.rights.ids(ACCESS_COMPONENT)
    return json_response(
        {
            "username": caller.id,
            "displayName": caller.name,
            "email": caller.email,
            "authorizedComponents": ["*"] if components is None else sorted(components),
            "tenants": caller.listed_tenants,
            "groups": caller.groups,
            "roles": caller.roles,
            "salesPlanType": None,
            "c8Links": {},
            "canLogout": caller.by_session,
        }
    )
