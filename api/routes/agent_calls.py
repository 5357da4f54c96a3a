"""Calls of models by agents, of a process instance and of a process: what came of them, and what they cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from vivero.api.http.decoding import check_limit, days_in_query, number_in_query
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_datetime, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.agents.wires.prices import MILLIONTHS
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import agent_calls, single_reads
from vivero.storage.reads.agent_calls import AgentCall, ElementCalls
from vivero.storage.reads.instances_by_day import MAX_DAYS
from vivero.storage.search.process_instances import PROCESS_INSTANCES

MAX_LIMIT = 1000


async def get(request: Request, services: Services) -> Response:
    """GET /v2/process-instances/{key}/agent-calls: the oldest first, and the sums of all calls by element.

    `limit`; `after`: a page's `next`; `elementId`: only calls of this element.
    """
    key, element = request.key("processInstanceKey"), request.query.get("elementId")
    limit, after = number_in_query(request, "limit", 100), request.query.get("after")
    check_limit(limit, MAX_LIMIT)

    async def query(connection: Connection, tenants: Tenants) -> tuple[list[AgentCall], list[ElementCalls]] | None:
        if await single_reads.root_of_instance(connection, key, tenants) is None:
            return None
        calls = await agent_calls.of_instance(connection, key, after, limit, tenants, element=element)
        return calls, await agent_calls.by_element(connection, key, tenants)

    found = await read_of(services, request.tenants, query)
    if found is None:
        raise not_found(PROCESS_INSTANCES.name, key)
    calls, sums = found
    more = calls[-1].id if len(calls) == limit else None
    return json_response({"items": list(map(_item, calls)), "next": more, "elements": list(map(_sum, sums))})


async def of_process(request: Request, services: Services) -> Response:
    """GET /v2/process-definitions/{key}/statistics/agent-calls: the sums of a process by element and model.

    All versions count. `startTime`, `days`: the calls that ended in this time. Empty for an unknown process.
    """
    key, (begins, days) = request.key("processDefinitionKey"), days_in_query(request, MAX_DAYS)
    found = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: agent_calls.by_model(
            connection, key, begins, begins + timedelta(days=days), tenants
        ),
    )
    items = [{**_sum(one.calls), "model": one.model, "processInstances": one.instances} for one in found]
    return json_response({"items": items})


def _item(call: AgentCall) -> dict[str, Any]:
    return {
        "agentCallId": call.id,
        "jobKey": str(call.job),
        "elementId": call.element,
        "elementInstanceKey": str(call.element_instance),
        "endDate": iso_datetime(call.ended_at),
        "turn": call.turn,
        "cause": call.cause,
        "durationMs": call.duration_ms,
        "provider": call.provider,
        "model": call.model,
        "outcome": call.outcome,
        "requestDigest": call.request_digest,
        "answerDigest": call.answer_digest,
        "inputTokens": call.input,
        "outputTokens": call.output,
        "cachedTokens": call.cached,
        "cost": _amount(call.cost),
        "currency": call.currency or None,
        "toolsOffered": call.offered,
        "toolsCalled": call.called,
    }


def _sum(one: ElementCalls) -> dict[str, Any]:
    return {
        "elementId": one.element,
        "calls": one.calls,
        "failed": one.failed,
        "inputTokens": one.input,
        "outputTokens": one.output,
        "cachedTokens": one.cached,
        "cost": _amount(one.cost),
        "currency": one.currency or None,
    }


def _amount(millionths: int | Decimal | None) -> float | None:
    """Money, in whole units of its currency."""
    return None if millionths is None else float(millionths) / MILLIONTHS
