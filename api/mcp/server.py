"""The MCP servers: `/mcp/cluster` for work with the whole server, `/mcp/processes` for processes as tools.

A request is answered by one JSON document. There are no sessions and no streams, so GET is not allowed.
A browser's session is no credential here: an agent has a token of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib.metadata import version as version_of
from types import MappingProxyType
from typing import Any

import msgspec
import structlog

from vivero.api.access.needs import Need, authorise
from vivero.api.http.problems import Problem, not_computed
from vivero.api.http.request import ClientLeft, Request
from vivero.api.http.response import Response
from vivero.api.mcp import messages
from vivero.api.mcp.messages import Message, RpcError
from vivero.api.mcp.tools import Call, Tool, checked, content, failed
from vivero.api.services import Services
from vivero.core.records.codec import UnknownFormat
from vivero.engine.compute.problems import NotComputed
from vivero.engine.outcomes.admission import NotAppended
from vivero.storage.postgres.errors import StorageError

INSTRUCTIONS = (
    "Vivero runs BPMN processes. Keys are strings of digits. To see why an instance stands still, search its incidents"
    " and explain the instance. Calls have the permissions of the token, and changes are in the audit log."
)
ACCEPTED = Response(202)

log = structlog.get_logger(__name__)

Handler = Callable[[Request, Services], Awaitable[Response]]
Needs = Mapping[tuple[str, str], Iterable[Need]]
"""Route of a tool → its needs, of which each is enough."""
Page = tuple[Iterable[Tool], str | None]
"""Tools, and the cursor of the next page."""
ListTools = Callable[[Request, Services, str | None], Awaitable[Page]]
FindTool = Callable[[Request, Services, str], Awaitable[Tool | None]]


def serving(list_tools: ListTools, find_tool: FindTool) -> Handler:
    """The handler of a server with these tools."""

    async def handle(request: Request, services: Services) -> Response:
        if request.caller.by_session:
            raise Problem(403, "FORBIDDEN", "Agents need a token: the session of a browser is not accepted here")
        message: Message | None = None
        version = request.header(b"mcp-protocol-version")
        try:
            message = messages.decoded(request.body)
            messages.checked_version(request, message)
            if message.is_notification:
                return ACCEPTED
            found = await _dispatched(message, request, services)
        except RpcError as error:
            return messages.error_response(error, message, version)
        return messages.result(message, version, found)

    async def _dispatched(message: Message, request: Request, services: Services) -> Mapping[str, Any]:
        if message.method == "tools/call":
            return await _call(message, request, services)
        if message.method == "tools/list":
            tools, after = await list_tools(request, services, messages.text(message.params, "cursor"))
            shown = [tool.document() for tool in tools]
            return {"tools": shown, **_PRIVATE} if after is None else {"tools": shown, "nextCursor": after, **_PRIVATE}
        if message.method == "initialize":
            return _initialized(message)
        if message.method == "server/discover":
            return {"supportedVersions": messages.VERSIONS, **_about(), **_PRIVATE}
        if message.method == "ping":
            return {}
        raise RpcError(messages.METHOD_NOT_FOUND, f"There is no method '{message.method[:100]}'")

    async def _call(message: Message, request: Request, services: Services) -> Mapping[str, Any]:
        name = messages.text(message.params, "name")
        tool = None if name is None else await find_tool(request, services, name)
        if tool is None:
            raise RpcError(messages.INVALID_PARAMS, f"There is no tool '{(name or '')[:100]}'")
        arguments = messages.value(message.params, "arguments", dict[str, msgspec.Raw]) or {}
        message.params.clear()  # the call holds the only reference to the body and may release it
        try:
            checked(tool, arguments)
            response = await tool.run(tool, Call(tool.name, arguments, request, services))
        except Problem as problem:
            response = problem.response(request.path)
        except NotComputed as error:
            response = not_computed(error).response(request.path)
        except _OF_APPLICATION:
            raise
        except Exception as error:
            log.exception("a tool failed", tool=tool.name)
            raise RpcError(messages.INTERNAL_ERROR, f"A bug stopped the tool '{tool.name}'; the log has it") from error
        caller, outcome = request.caller, "refused" if failed(response) else "done"
        log.info("an agent used a tool", tool=tool.name, kind=caller.kind, username=caller.id, outcome=outcome)
        return content(response)

    return handle


_OF_APPLICATION = (RpcError, ClientLeft, NotAppended, StorageError, UnknownFormat)
"""Exceptions that are no bugs: the server or the application answers them."""
_PRIVATE = MappingProxyType({"ttlMs": 0, "cacheScope": "private"})
"""Callers see different tools, and other ones after a change of rights."""


def _initialized(message: Message) -> Mapping[str, Any]:
    asked = messages.text(message.params, "protocolVersion")
    version = asked if asked in messages.HANDSHAKE else messages.HANDSHAKE[-1]
    return {"protocolVersion": version, **_about()}


def _about() -> Mapping[str, Any]:
    return {
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "vivero", "title": "Vivero", "version": version_of("vivero")},
        "instructions": INSTRUCTIONS,
    }


def permitted(request: Request, tools: Iterable[Tool], needs: Needs) -> list[Tool]:
    """The tools for whose route the caller has a permission, be it for some resources only."""
    return [tool for tool in tools if any(_has(request, need) for need in needs[tool.route])]


def _has(request: Request, need: Need) -> bool:
    try:
        authorise(request.caller, need)
    except Problem:
        return False
    return True
