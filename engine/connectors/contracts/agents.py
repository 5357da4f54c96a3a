"""AI agents: an ad-hoc sub-process whose elements are the tools, a task in a loop of the model, and their tools."""

from __future__ import annotations

from dataclasses import replace

from vivero.engine.connectors.contract import Contract, Input, Kind

_KEY = "authentication.apiKey"
_BEDROCK_AUTHENTICATION = ("credentials", "apiKey", "defaultCredentialsChain")
_PROVIDERS: dict[str, tuple[Input, ...]] = {
    "openai": (
        *(Input(_KEY), Input("authentication.organizationId"), Input("authentication.projectId")),
        Input("model.model"),
        Input("model.parameters.maxCompletionTokens", Kind.NUMBER),
    ),
    "openaiCompatible": (
        *(Input("endpoint"), Input(_KEY), Input("headers", Kind.CONTEXT), Input("queryParameters", Kind.CONTEXT)),
        Input("model.model"),
        Input("model.parameters.maxCompletionTokens", Kind.NUMBER),
        Input("model.parameters.customParameters", Kind.CONTEXT),
    ),
    "azureOpenAi": (
        *(Input("endpoint"), Input("authentication.type", choices=("apiKey",)), Input(_KEY)),
        Input("model.deploymentName"),
        Input("model.parameters.maxCompletionTokens", Kind.NUMBER),
    ),
    "anthropic": (
        *(Input("endpoint"), Input(_KEY), Input("model.model")),
        *(Input("model.parameters.maxTokens", Kind.NUMBER), Input("model.parameters.topK", Kind.NUMBER)),
    ),
    "bedrock": (
        *(Input("region"), Input("endpoint"), Input("authentication.type", choices=_BEDROCK_AUTHENTICATION)),
        *(Input("authentication.accessKey"), Input("authentication.secretKey"), Input(_KEY), Input("model.model")),
        Input("model.parameters.maxTokens", Kind.NUMBER),
    ),
}
"""Provider → its own inputs. The provider of a job must have those that its protocol needs."""
_OF_ALL = (
    Input("model.parameters.temperature", Kind.NUMBER),
    Input("model.parameters.topP", Kind.NUMBER),
    Input("timeouts.timeout", Kind.DURATION),
)
_MODEL_INPUTS = (
    Input("provider.type", choices=tuple(_PROVIDERS), required=True),
    *(
        replace(each, name=f"provider.{provider}.{each.name}")
        for provider, own in _PROVIDERS.items()
        for each in (*own, *_OF_ALL)
    ),
    Input("data.systemPrompt.prompt"),
    Input("data.userPrompt.prompt", required=True),
    Input("data.userPrompt.documents", Kind.LIST),
    Input("data.memory.storage.type", default="in-process", choices=("in-process", "camunda-document")),
    Input("data.memory.contextWindowSize", Kind.NUMBER, 20),
    Input("data.limits.maxModelCalls", Kind.NUMBER, 10),
    Input("data.response.format.type", default="text", choices=("text", "json")),
    Input("data.response.format.parseJson", Kind.FLAG, False),
    Input("data.response.format.schema", Kind.CONTEXT),
    Input("data.response.format.schemaName", default="Response"),
    Input("data.response.includeAssistantMessage", Kind.FLAG, False),
    Input("data.response.includeAgentContext", Kind.FLAG, False),
)
_ERRORS = (
    *("FAILED_MODEL_CALL", "MAXIMUM_NUMBER_OF_MODEL_CALLS_REACHED", "FAILED_TO_PARSE_RESPONSE_CONTENT"),
    *("MODEL_RESPONSE_CONTENT_FILTERED", "NO_USER_MESSAGE_CONTENT", "TOOL_CALL_RESULTS_ON_EMPTY_CONTEXT"),
    *("MIGRATION_GATEWAY_TOOL_DEFINITIONS_CHANGED", "MCP_GATEWAY_INVALID_TOOL_DEFINITIONS"),
    *("MIGRATION_MISSING_TOOLS", "INVALID_TOOL_DEFINITION", "UNSUPPORTED", "UNSUPPORTED_DOCUMENT", "NOT_ALLOWED"),
    *("AGENT_BUDGET_EXCEEDED", "AGENTS_STOPPED", "AGENT_LEDGER_UNAVAILABLE"),
)

AGENT = Contract(
    name="AI agent",
    types=("io.camunda.agenticai:aiagent-job-worker:1",),
    inputs=(
        Input("adHocSubProcessElements", Kind.LIST),
        Input("agentContext", Kind.CONTEXT),
        Input("toolCallResults", Kind.LIST),
        *_MODEL_INPUTS,
        Input(
            "data.events.behavior",
            default="WAIT_FOR_TOOL_CALL_RESULTS",
            choices=("WAIT_FOR_TOOL_CALL_RESULTS", "INTERRUPT_TOOL_CALLS"),
        ),
    ),
    result="agent, agentContext",
    handler="vivero.engine.connectors.agents.worker:Agent",
    secrets=("provider",),
    errors=_ERRORS,
    limit="agents.max_job",
)

AGENT_TASK = Contract(
    name="AI agent as a task",
    types=("io.camunda.agenticai:aiagent:1",),
    inputs=(
        *_MODEL_INPUTS,
        Input("data.context", Kind.CONTEXT),
        Input("data.tools.containerElementId"),
        Input("data.tools.toolCallResults", Kind.LIST),
    ),
    result="context, toolCalls, responseText, responseJson, responseMessage",
    handler="vivero.engine.connectors.agents.tasks:AgentTask",
    secrets=("provider",),
    errors=("AD_HOC_SUB_PROCESS_NOT_FOUND",),
    limit="agents.max_job",
)
TOOLS_SCHEMA = Contract(
    name="Tools of an agent",
    types=("io.camunda.agenticai:adhoctoolsschema:1",),
    inputs=(Input("data.containerElementId", required=True),),
    result="toolDefinitions, gatewayToolDefinitions",
    handler="vivero.engine.connectors.agents.tasks:ToolsSchema",
    errors=("AD_HOC_SUB_PROCESS_NOT_FOUND",),
)
