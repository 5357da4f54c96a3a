"""Messages: the protocol of Anthropic. Source: https://docs.anthropic.com/en/api/messages"""

from __future__ import annotations

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
    PAUSE,
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
    maybe_text,
    merged,
    result_text,
    spoken,
    system_text,
    turn_of,
    unreadable,
    usage_or_none,
)

PROVIDER = "anthropic"
DEFAULT_MAX_TOKENS = 4096
_STOPS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "tool_use": TOOL_USE,
    "refusal": CONTENT_FILTERED,
    "pause_turn": PAUSE,
}
_THOUGHTS = ("thinking", "redacted_thinking")


def body(request: ModelRequest, model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request. `parameters` are in the words of the protocol; `max_tokens` is obligatory there."""
    document: dict[str, Any] = {
        "model": model,
        "max_tokens": DEFAULT_MAX_TOKENS,
        "messages": merged(map(_turn, spoken(request))),
    }
    if system := system_text(request):
        document["system"] = system
    if request.tools:
        document["tools"] = [
            {"name": alias(tool.name), "description": tool.description, "input_schema": tool.input_schema}
            for tool in request.tools
        ]
    return {**document, **parameters}


def _turn(message: Message) -> tuple[str, list[dict[str, Any]]]:
    return turn_of(message, PROVIDER, {"type": "text"}, _file, _result, _call)


def _result(result: ToolCallResult) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": result.id, "content": result_text(result)}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": alias(call.name), "input": call.arguments}


def _file(file: FileContent) -> dict[str, Any]:
    source = {"type": "base64", "media_type": file.media_type, "data": file.base64}
    if file.media_type == PDF:
        return {"type": "document", "source": source, "title": file.name}
    return {"type": "image", "source": source}


def answer(document: Any, request: ModelRequest) -> ModelAnswer:
    """The answer in the body of a response. Raises AgentError."""
    if not isinstance(document, dict) or not isinstance(document.get("content"), list):
        raise unreadable("it has no content")
    blocks, names = items(document["content"]), by_alias(request.tools)
    stop, usage = str(document.get("stop_reason") or STOP), document.get("usage")
    asked = [block for block in blocks if block.get("type") == "tool_use"][:MOST_CALLS]
    calls = [asked_call(block.get("id"), block, names) for block in asked]
    content = [_content(block) for block in blocks if block.get("type") != "tool_use"]
    return ModelAnswer(
        content,
        calls,
        usage_or_none(usage, _usage(usage), "input_tokens", "output_tokens"),
        _STOPS.get(stop, stop),
        maybe_text(document.get("model")),
        maybe_text(document.get("id")),
    )


def _content(block: dict[str, Any]) -> Content:
    if block.get("type") == "text":
        return TextContent(str(block.get("text") or ""))
    return ReasoningContent(PROVIDER, block) if block.get("type") in _THOUGHTS else ProviderContent(PROVIDER, block)


def _usage(usage: Any) -> TokenUsage:
    return TokenUsage(
        count(usage, "input_tokens"),
        count(usage, "output_tokens"),
        count(usage, "cache_read_input_tokens"),
        count(usage, "cache_creation_input_tokens"),
    )
