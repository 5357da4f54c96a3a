"""Gateways to MCP servers: their tools become tools of the agent, named `MCP_<element>___<tool>`.

A gateway is an element with the property `io.camunda.agenticai.gateway.type` = `mcpClient`. A call of one of its tools
activates the element with the request in `toolCall`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vivero.core.agents.errors import AgentError
from vivero.core.agents.memory.context import Content, TextContent, ToolCall, ToolCallResult, ToolDefinition
from vivero.core.agents.results import GivenResult, content_of, text_of
from vivero.core.feel import to_json

KIND = "mcpClient"
CLIENTS = "mcpClients"
"""The property of a context with the ids of the gateways whose tools it has."""
INVALID = "MCP_GATEWAY_INVALID_TOOL_DEFINITIONS"
PREFIX, SEPARATOR, DISCOVERY = "MCP_", "___", "MCP_toolsList_"
MOST_TOOLS, MOST_CHARACTERS = 128, 256 * 1024
"""The tools of one gateway, and the JSON of their definitions."""
ERROR = "Error: "
"""The beginning of a result that says that the tool has failed. Not all providers have a mark for it."""


def discovery_calls(gateways: Iterable[str]) -> list[ToolCall]:
    """The calls that ask gateways for their tools."""
    return [ToolCall(f"{DISCOVERY}{id}", id, {"method": "tools/list"}) for id in gateways]


def is_discovery(result: GivenResult) -> bool:
    """Whether it is the result of a call that asked for tools."""
    return result.id is not None and result.id.startswith(DISCOVERY)


def discovered(gateways: Sequence[str], results: Iterable[GivenResult]) -> list[ToolDefinition] | None:
    """The tools of all gateways. None: results are missing. Raises AgentError that names the gateway."""
    given = {result.id: result.value for result in results}
    if any(f"{DISCOVERY}{id}" not in given for id in gateways):
        return None
    return [tool for id in gateways for tool in _tools(id, given[f"{DISCOVERY}{id}"])]


def _tools(gateway: str, value: Any) -> list[ToolDefinition]:
    """The tools that one gateway has given, each name once."""
    items = value.get("toolDefinitions") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise _invalid(gateway, "its result has no toolDefinitions")
    if len(items) > MOST_TOOLS:
        raise _invalid(gateway, f"it has {len(items)} tools, and {MOST_TOOLS} are allowed: filter them in the element")
    found: dict[str, ToolDefinition] = {}
    for item in items:
        found.setdefault((tool := _tool(gateway, item)).name, tool)
    if len(to_json(items)) > MOST_CHARACTERS:
        raise _invalid(gateway, f"the definitions of its tools have more than {MOST_CHARACTERS} characters")
    return list(found.values())


def _tool(gateway: str, item: Any) -> ToolDefinition:
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(name, str) or not name:
        raise _invalid(gateway, "it has a tool without a name")
    schema = item.get("inputSchema")
    described = item.get("description") or item.get("title") or name
    given = schema if isinstance(schema, dict) else {}
    return ToolDefinition(f"{PREFIX}{gateway}{SEPARATOR}{name}", str(described), {**given, "type": "object"})


def _invalid(gateway: str, why: str) -> AgentError:
    again = "to ask the gateways again, set agentContext to null and toolCallResults to [] in the sub-process"
    return AgentError(INVALID, f"the gateway '{gateway}': {why} ({again})")


def route(name: str, gateways: Iterable[str]) -> tuple[str, str] | None:
    """The gateway and its tool that a name means. None: it is no name of a gateway's tool."""
    id, separator, tool = name.removeprefix(PREFIX).partition(SEPARATOR)
    return (id, tool) if name.startswith(PREFIX) and separator and id in gateways else None


def routed(call: ToolCall, gateways: Sequence[str]) -> ToolCall:
    """The call as its element gets it: that of a gateway has the request in its arguments."""
    found = route(call.name, gateways)
    if found is None:
        return call
    return ToolCall(
        call.id, found[0], {"method": "tools/call", "params": {"name": found[1], "arguments": call.arguments}}
    )


def gateway_result(call: ToolCall, given: GivenResult, gateway: str, note: str) -> ToolCallResult:
    """The result of a gateway's tool. One text is the plain text; an error begins with `Error: `."""
    value = given.value
    items = value.get("content") if isinstance(value, dict) else None
    if not isinstance(items, list) or not isinstance(value, dict):
        return ToolCallResult(call.id, call.name, [content_of(value, note)], gateway, given.completed_at)
    content = [_content(item, note) for item in items] or [content_of(None, note)]
    if sum(len(text_of(each)) for each in content) > len(text_of(joined := content_of(_text(content), note))):
        content = [joined]  # it is too long, and has lost its end
    if value.get("isError"):
        content = [TextContent(f"{ERROR}{_text(content)}")]
    return ToolCallResult(call.id, call.name, content, gateway, given.completed_at)


def _content(item: Any, note: str) -> Content:
    kind = item.get("type") if isinstance(item, Mapping) else None
    if kind == "text":
        return content_of(item.get("text"), note)
    return content_of(item.get("content") if kind == "object" else item, note)


def _text(content: Iterable[Content]) -> str:
    return "\n".join(map(text_of, content))
