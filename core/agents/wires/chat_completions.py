"""Chat completions: the protocol of OpenAI, and of the many servers that are compatible with it.

Source: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vivero.core.agents.memory.context import (
    AssistantMessage,
    Content,
    DocumentContent,
    FileContent,
    Message,
    TextContent,
    TokenUsage,
    ToolCallResultMessage,
)
from vivero.core.agents.model import (
    CONTENT_FILTERED,
    LENGTH,
    MOST_CALLS,
    PDF,
    STOP,
    TOOL_USE,
    AskedCall,
    ModelAnswer,
    ModelRequest,
    parsed_text,
)
from vivero.core.agents.tools import alias, by_alias
from vivero.core.agents.wires.shapes import (
    arguments_of,
    count,
    items,
    maybe_text,
    part_of,
    result_text,
    texts,
    unreadable,
    usage_or_none,
)
from vivero.core.feel import to_json

_STOPS = {"stop": STOP, "length": LENGTH, "tool_calls": TOOL_USE, "content_filter": CONTENT_FILTERED}


def body(request: ModelRequest, model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request. `parameters` are in the words of the protocol."""
    document: dict[str, Any] = {"model": model, "messages": [each for m in request.messages for each in _messages(m)]}
    if request.tools:
        document["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": alias(tool.name),
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
    if request.format.is_json:
        document["response_format"] = _format(request)
    return {**document, **parameters}


def _format(request: ModelRequest) -> dict[str, Any]:
    if request.format.schema is None:
        return {"type": "json_object"}
    schema = {"name": request.format.schema_name, "schema": dict(request.format.schema)}
    return {"type": "json_schema", "json_schema": schema}


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    if isinstance(message, ToolCallResultMessage):
        for result in message.results:
            yield {"role": "tool", "tool_call_id": result.id, "content": result_text(result)}
    elif isinstance(message, AssistantMessage):
        calls = [
            {"id": c.id, "type": "function", "function": {"name": alias(c.name), "arguments": to_json(c.arguments)}}
            for c in message.tool_calls or ()
        ]
        content = texts(message.content)
        yield {"role": "assistant", "content": content if content or not calls else None} | (
            {"tool_calls": calls} if calls else {}
        )
    else:
        yield {"role": message.__struct_config__.tag, "content": _spoken(message.content)}


def _spoken(content: Sequence[Content]) -> str | list[dict[str, Any]]:
    """A text, or parts if there are files."""
    if not any(isinstance(each, FileContent | DocumentContent) for each in content):
        return texts(content)
    parts = (part_of(each, "", {"type": "text"}, _file) for each in content)
    return [part for part in parts if part is not None]


def _file(file: FileContent) -> dict[str, Any]:
    url = f"data:{file.media_type};base64,{file.base64}"
    if file.media_type == PDF:
        return {"type": "file", "file": {"filename": file.name, "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url}}


def answer(document: Any, request: ModelRequest) -> ModelAnswer:
    """The answer in the body of a response. Raises AgentError."""
    choices = items(document.get("choices")) if isinstance(document, dict) else []
    if not choices or not isinstance(choices[0].get("message"), dict):
        raise unreadable("it has no choices[0].message")
    message, names = choices[0]["message"], by_alias(request.tools)
    content: list[Content] = [
        TextContent(said)
        for said in (maybe_text(message.get("content")) or maybe_text(message.get("refusal")),)
        if said
    ]
    calls = [_call(call, names) for call in items(message.get("tool_calls"))[:MOST_CALLS]]
    stop = str(choices[0].get("finish_reason") or STOP)
    return ModelAnswer(
        content,
        calls,
        _usage(document.get("usage")),
        _STOPS.get(stop, stop),
        maybe_text(document.get("model")),
        maybe_text(document.get("id")),
    )


def _call(call: Mapping[str, Any], names: Mapping[str, str]) -> AskedCall:
    function = call.get("function")
    given = function if isinstance(function, dict) else {}
    name = str(given.get("name") or "")
    return AskedCall(str(call.get("id") or ""), names.get(name, name), _arguments(given.get("arguments")))


def _arguments(text: Any) -> Mapping[str, Any] | None:
    """The arguments, which are JSON in a text. Some servers give the object itself, or nothing for no arguments."""
    if text is None or text == "":
        return {}
    return arguments_of(parsed_text(text) if isinstance(text, str) else text)


def _usage(usage: Any) -> TokenUsage | None:
    details = usage if isinstance(usage, dict) else {}
    cached = count(details.get("prompt_tokens_details"), "cached_tokens")
    made = TokenUsage(
        max(count(usage, "prompt_tokens") - cached, 0),
        count(usage, "completion_tokens"),
        cached,
        0,
        count(details.get("completion_tokens_details"), "reasoning_tokens"),
    )
    return usage_or_none(usage, made, "prompt_tokens", "completion_tokens")
