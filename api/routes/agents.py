"""The servers for agents: tools over the routes of the REST API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.api.access.needs import ANY_CALLER
from vivero.api.http.request import Request
from vivero.api.mcp.cluster_tools import CLUSTER_TOOLS
from vivero.api.mcp.own_tools import OWN_TOOLS
from vivero.api.mcp.process_tools import STATIC_TOOLS, process_tool, process_tools
from vivero.api.mcp.server import Needs, Page, permitted, serving
from vivero.api.mcp.tools import Tool
from vivero.api.routes.route import Handler, Route
from vivero.api.services import Services


def agent_routes(routes: Iterable[Route]) -> Iterator[Route]:
    """The routes of agents. Their tools are requests of `routes`, which check permissions."""
    needs: Needs = {(one.method, one.path): (one.needs, *one.needs_for_parts) for one in routes}
    yield Route("POST", "/mcp/cluster", _cluster(needs), ANY_CALLER)
    yield Route("POST", "/mcp/processes", _processes(needs), ANY_CALLER)


def _cluster(needs: Needs) -> Handler:
    all_tools = (*CLUSTER_TOOLS, *OWN_TOOLS)
    by_name = {tool.name: tool for tool in all_tools}

    async def tools(request: Request, _services: Services, _cursor: str | None) -> Page:
        return permitted(request, all_tools, needs), None

    async def tool(_request: Request, _services: Services, name: str) -> Tool | None:
        return by_name.get(name)

    return serving(tools, tool)


def _processes(needs: Needs) -> Handler:
    by_name = {tool.name: tool for tool in STATIC_TOOLS}

    async def tools(request: Request, services: Services, cursor: str | None) -> Page:
        processes, after = await process_tools(request, services, cursor)
        return [*processes, *(permitted(request, STATIC_TOOLS, needs) if cursor is None else ())], after

    async def tool(request: Request, services: Services, name: str) -> Tool | None:
        return by_name.get(name) or await process_tool(request, services, name)

    return serving(tools, tool)
