"""Servers of the Model Context Protocol (MCP): `io.camunda.agenticai:mcpremoteclient:1`."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind

STANDALONE, AS_TOOL = "standalone", "aiAgentTool"
METHODS = (
    *("tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"),
    *("prompts/list", "prompts/get"),
)
INVALID_PARAMS, INVALID_METHOD = "MCP_CLIENT_INVALID_PARAMS", "MCP_CLIENT_INVALID_METHOD"
PROMPT_ERROR, RESOURCE_ERROR = "MCP_CLIENT_GET_PROMPT_ERROR", "MCP_CLIENT_READ_RESOURCE_ERROR"
SERVER_ERROR, TOO_MANY = "MCP_SERVER_ERROR", "MCP_TOO_MANY_ITEMS"

_OPERATION = (
    Input("data.connectorMode.type", choices=(STANDALONE, AS_TOOL)),
    Input("data.connectorMode.operation.type", choices=METHODS),
    Input("data.connectorMode.operation.toolName"),
    Input("data.connectorMode.operation.toolArguments", Kind.CONTEXT),
    Input("data.connectorMode.operation.resourceUri"),
    Input("data.connectorMode.operation.promptName"),
    Input("data.connectorMode.operation.promptArguments", Kind.CONTEXT),
    Input("data.connectorMode.operation.meta", Kind.CONTEXT),
    Input("data.connectorMode.toolOperation.method"),
    Input("data.connectorMode.toolOperation.params", Kind.CONTEXT),
    Input("data.connectorMode.standaloneModeFilters", Kind.CONTEXT),
    Input("data.connectorMode.toolModeFilters", Kind.CONTEXT),
    Input("data.operation", Kind.CONTEXT),
    Input("data.tools", Kind.CONTEXT),
)
_RESULT = "toolDefinitions | name, content, isError | resources | resourceTemplates | contents | promptDescriptions"

_ERRORS = (INVALID_PARAMS, INVALID_METHOD, PROMPT_ERROR, RESOURCE_ERROR, SERVER_ERROR, TOO_MANY)

MCP_REMOTE = Contract(
    name="MCP server",
    types=("io.camunda.agenticai:mcpremoteclient:1", "io.camunda.agenticai:mcpremoteclient:0"),
    inputs=(
        Input("data.transport.type", choices=("http", "sse")),
        *(
            Input(f"data.transport.{kind}.{name}", what)
            for kind in ("http", "sse")
            for name, what in (
                *(("url", Kind.TEXT), ("headers", Kind.CONTEXT)),
                *(("timeout", Kind.DURATION), ("authentication", Kind.CONTEXT)),
            )
        ),
        Input("data.connection.sseUrl"),
        *_OPERATION,
    ),
    result=_RESULT,
    handler="vivero.engine.connectors.mcp.remote:McpRemote",
    secrets=("data.transport", "data.connection"),
    errors=_ERRORS,
    limit="agents.max_call",
    extra="mcp",
    modules=("mcp",),
)

MCP_CLIENT = Contract(
    name="MCP server of the operator",
    types=("io.camunda.agenticai:mcpclient:1", "io.camunda.agenticai:mcpclient:0"),
    inputs=(Input("data.client.clientId", required=True), *_OPERATION),
    result=_RESULT,
    handler="vivero.engine.connectors.mcp.configured:McpConfigured",
    errors=(*_ERRORS, "NOT_ALLOWED"),
    limit="agents.max_call",
    extra="mcp",
    modules=("mcp",),
)
