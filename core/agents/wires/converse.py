"""Converse: the protocol of Amazon Bedrock.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from vivero.core.agents.memory.context import (
    Content,
    FileContent,
    Message,
    ProviderContent,
    ReasoningContent,
    TextContent,
    TokenUsage,
    ToolCall,
    ToolCallResult,
)
from vivero.core.agents.model import (
    CONTENT_FILTERED,
    LENGTH,
    MOST_CALLS,
    PDF,
    STOP,
    TOOL_USE,
    ModelAnswer,
    ModelRequest,
)
from vivero.core.agents.tools import alias, by_alias
from vivero.core.agents.wires.shapes import (
    asked_call,
    count,
    items,
    merged,
    result_text,
    spoken,
    system_text,
    turn_of,
    unreadable,
    usage_or_none,
)

PROVIDER = "bedrock"
_STOPS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "tool_use": TOOL_USE,
    "content_filtered": CONTENT_FILTERED,
    "guardrail_intervened": CONTENT_FILTERED,
}


def body(request: ModelRequest, model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request. The model is a part of its URL. `parameters` become `inferenceConfig`."""
    document: dict[str, Any] = {"messages": merged(map(_turn, spoken(request)))}
    if system := system_text(request):
        document["system"] = [{"text": system}]
    if parameters:
        document["inferenceConfig"] = dict(parameters)
    if request.tools:
        document["toolConfig"] = {"tools": list(map(_tool, request.tools))}
    return document


def _tool(tool: Any) -> dict[str, Any]:
    schema = {"json": tool.input_schema}
    return {"toolSpec": {"name": alias(tool.name), "description": tool.description, "inputSchema": schema}}


def _turn(message: Message) -> tuple[str, list[dict[str, Any]]]:
    return turn_of(message, PROVIDER, {}, _file, _result, _call)


def _result(result: ToolCallResult) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": result.id, "content": [{"text": result_text(result)}]}}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call.id, "name": alias(call.name), "input": call.arguments}}


def _file(file: FileContent) -> dict[str, Any]:
    """The name of a document may have few signs only, and must be unique in a request."""
    kind = file.media_type.rpartition("/")[2]
    source = {"source": {"bytes": file.base64}}
    if file.media_type != PDF:
        return {"image": {"format": kind, **source}}
    digest = hashlib.sha256(file.base64.encode()).hexdigest()[:8]
    return {"document": {"format": kind, "name": f"document {digest}", **source}}


def answer(document: Any, request: ModelRequest) -> ModelAnswer:
    """The answer in the body of a response. Raises AgentError."""
    output = document.get("output") if isinstance(document, dict) else None
    message = output.get("message") if isinstance(output, dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise unreadable("it has no output.message.content")
    blocks, names = items(message["content"]), by_alias(request.tools)
    stop, usage = str(document.get("stopReason") or STOP), document.get("usage")
    asked = [block["toolUse"] for block in blocks if isinstance(block.get("toolUse"), dict)]
    calls = [asked_call(each.get("toolUseId"), each, names) for each in asked[:MOST_CALLS]]
    content = [_content(block) for block in blocks if "toolUse" not in block]
    used = usage_or_none(usage, _usage(usage), "inputTokens", "outputTokens")
    return ModelAnswer(content, calls, used, _STOPS.get(stop, stop))


def _content(block: dict[str, Any]) -> Content:
    if isinstance(block.get("text"), str):
        return TextContent(block["text"])
    return ReasoningContent(PROVIDER, block) if "reasoningContent" in block else ProviderContent(PROVIDER, block)


def _usage(usage: Any) -> TokenUsage:
    return TokenUsage(
        count(usage, "inputTokens"),
        count(usage, "outputTokens"),
        count(usage, "cacheReadInputTokens"),
        count(usage, "cacheWriteInputTokens"),
    )
