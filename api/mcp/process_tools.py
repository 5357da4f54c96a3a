"""Processes as tools: each latest version whose message start event has the properties of a tool.

A call sends the message, which starts an instance, and returns its key at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vivero.api.commands.inner_requests import InnerRequest
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.mcp.cluster_tools import GET_PROCESS_INSTANCE, SEARCH_INCIDENTS, SEARCH_VARIABLES
from vivero.api.mcp.messages import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from vivero.api.mcp.tools import Call, Tool, failed
from vivero.api.services import Services
from vivero.core.events.starts import TOOL, TOOL_NAME

STATIC_TOOLS = (SEARCH_VARIABLES, GET_PROCESS_INSTANCE, SEARCH_INCIDENTS)
"""An agent follows the instance that it has started with these."""
STATIC_NAMES = frozenset(tool.name for tool in STATIC_TOOLS)
TOOLS_A_PAGE = 100
TENANT = "tenantId"
"""The parameter of the server's address that restricts it to the tools of one tenant."""
_TEXTS = (
    ("purpose", ""),
    ("inputs", "Arguments: "),
    ("results", "Results: "),
    ("when_to_use", "Use it: "),
    ("when_not_to_use", "Do not use it: "),
)
"""The texts of a tool in the order of its description."""


class _Start(msgspec.Struct, frozen=True, rename="camel"):
    """A start event, as a search of message subscriptions shows it."""

    message_name: str
    tenant_id: str
    process_definition_id: str
    process_definition_name: str | None
    tool_name: str
    tool_properties: dict[str, str]


class _Found(msgspec.Struct, frozen=True):
    items: list[_Start]
    page: dict[str, Any]


async def process_tools(request: Request, services: Services, after: str | None) -> tuple[list[Tool], str | None]:
    """A page of the tools whose processes the caller may see, and the cursor of the next page. Raises RpcError."""
    page = {"limit": TOOLS_A_PAGE} if after is None else {"limit": TOOLS_A_PAGE, "after": after}
    found = await _found(request, services, {"$exists": True}, page)
    more = len(found.items) == TOOLS_A_PAGE
    return [_tool(start) for start in found.items if _is_callable(start)], found.page["endCursor"] if more else None


async def process_tool(request: Request, services: Services, name: str) -> Tool | None:
    """The tool with this name; None without one. Raises RpcError if several processes have it."""
    if TOOL_NAME.fullmatch(name) is None:
        return None
    starts = (await _found(request, services, name, {"limit": 2})).items
    if len(starts) > 1:
        one_tenant = len({start.tenant_id for start in starts}) == 1
        processes = " and ".join(sorted(_place(start, one_tenant) for start in starts))
        hint = "" if one_tenant else f": use the server at /mcp/processes?{TENANT}=… of one tenant"
        raise RpcError(INVALID_PARAMS, f"The processes {processes} have a tool of the name '{name}'{hint}")
    return _tool(starts[0]) if starts else None


def _place(start: _Start, one_tenant: bool) -> str:
    id = start.process_definition_id
    return id if one_tenant else f"{id} of tenant '{start.tenant_id}'"


async def _found(request: Request, services: Services, name: object, page: Mapping[str, object]) -> _Found:
    tenant = request.query.get(TENANT)
    of_tenant = {} if tenant is None else {"tenantId": tenant}
    search = {
        "filter": {"messageSubscriptionType": "START_EVENT", "toolName": name, **of_tenant},
        "sort": [{"field": "toolName"}],
        "page": page,
    }
    inner = InnerRequest("POST", "/v2/message-subscriptions/search", msgspec.json.encode(search))
    response = await services.inner.send(request, inner, "tools/list")
    if response.status == 403:
        return _Found([], {"endCursor": None})
    if failed(response):
        code = INVALID_PARAMS if response.status < 500 else INTERNAL_ERROR
        raise RpcError(code, f"The tools cannot be listed: {msgspec.json.decode(response.body)['detail']}")
    return msgspec.json.decode(response.body, type=_Found)


def _is_callable(start: _Start) -> bool:
    """Whether a call could name the tool: the name is one of MCP, and no tool of ours has it."""
    return TOOL_NAME.fullmatch(start.tool_name) is not None and start.tool_name not in STATIC_NAMES


def _tool(start: _Start) -> Tool:
    properties = {name.removeprefix(TOOL): text.strip() for name, text in start.tool_properties.items()}
    described = [f"{before}{text}" for name, before in _TEXTS if (text := properties.get(name))]
    what = f"Starts the process {start.process_definition_name or start.process_definition_id}."
    schema = {"type": "object", "description": properties.get("inputs") or "The variables of the process"}

    async def run(_tool: Tool, call: Call) -> Response:
        body = {"name": start.message_name, "tenantId": start.tenant_id, "variables": call.arguments}
        inner = InnerRequest("POST", "/v2/messages/correlation", msgspec.json.encode(body))
        return await call.send(inner)

    return Tool(
        start.tool_name,
        "\n".join([*described, what]),
        ("POST", "/v2/messages/correlation"),
        changes=True,
        run=run,
        schema=schema,
    )
