"""Shapes that several protocols share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vivero.core.agents.errors import FAILED_MODEL_CALL, UNSUPPORTED_DOCUMENT, AgentError
from vivero.core.agents.memory.context import (
    AssistantMessage,
    Content,
    DocumentContent,
    FileContent,
    Message,
    ProviderContent,
    ReasoningContent,
    SystemMessage,
    TextContent,
    TokenUsage,
    ToolCall,
    ToolCallResult,
    ToolCallResultMessage,
    UserMessage,
)
from vivero.core.agents.model import AskedCall, ModelRequest
from vivero.core.agents.results import text_of
from vivero.core.feel import to_json

LEFT_OUT = "(Earlier messages are left out.)"
NO_TEXT = "(no text)"
CHARACTERS_PER_TOKEN = 3
"""A cautious estimate, for reservations of budgets before a call."""


def texts(content: Iterable[Content] | None) -> str:
    """All texts of a message."""
    return "\n".join(filter(None, map(text_of, content or ())))


def result_text(result: ToolCallResult) -> str:
    """The content of a result, which is never empty."""
    return texts(result.content) or NO_TEXT


def system_text(request: ModelRequest) -> str:
    """The system message, with the schema of the response for providers that have no other place for it."""
    said = [texts(message.content) for message in request.messages if isinstance(message, SystemMessage)]
    if request.format.is_json:
        said.append("Answer with one JSON value only, without any other text.")
        if request.format.schema is not None:
            said.append(f"The value must fit this JSON schema: {to_json(dict(request.format.schema))}")
    return "\n\n".join(filter(None, said))


def spoken(request: ModelRequest) -> list[Message]:
    """The messages without that of the system. The first is one of the user, which some providers demand."""
    rest: list[Message] = [message for message in request.messages if not isinstance(message, SystemMessage)]
    if rest and not isinstance(rest[0], UserMessage):
        return [UserMessage([TextContent(LEFT_OUT)], {}), *rest]
    return rest


def merged(turns: Iterable[tuple[str, list[dict[str, Any]]]]) -> list[dict[str, Any]]:
    """Messages of which no two neighbours have the same role: their contents are joined."""
    found: list[dict[str, Any]] = []
    for role, content in turns:
        if found and found[-1]["role"] == role:
            found[-1]["content"] += content
        elif content:
            found.append({"role": role, "content": list(content)})
    return found


def arguments_of(value: Any) -> Mapping[str, Any] | None:
    """The arguments of a call. None: they are not an object."""
    return value if isinstance(value, dict) else None


def asked_call(id: Any, block: Mapping[str, Any], names: Mapping[str, str]) -> AskedCall:
    """The call of a tool in a block with `name` and `input`. `names`: the names of tools by their aliases."""
    name = str(block.get("name") or "")
    return AskedCall(str(id or ""), names.get(name, name), arguments_of(block.get("input")))


def part_of(
    content: Content,
    provider: str,
    text_block: Mapping[str, Any],
    file_block: Callable[[FileContent], dict[str, Any]],
) -> dict[str, Any] | None:
    """The block of a part of a message: `text_block` with the text, a file, or what only this provider reads again.

    None: it is empty, or of another provider. Raises AgentError for a document whose file was not read: a model must
    not answer without it.
    """
    if isinstance(content, DocumentContent):
        raise AgentError(UNSUPPORTED_DOCUMENT, "documents are not supported here")
    if isinstance(content, FileContent):
        return file_block(content)
    if isinstance(content, ReasoningContent | ProviderContent):
        return dict(content.payload) if content.provider == provider else None
    text = text_of(content)
    return {**text_block, "text": text} if text.strip() else None


def turn_of(
    message: Message,
    provider: str,
    text_block: Mapping[str, Any],
    file_block: Callable[[FileContent], dict[str, Any]],
    result_block: Callable[[ToolCallResult], dict[str, Any]],
    call_block: Callable[[ToolCall], dict[str, Any]],
) -> tuple[str, list[dict[str, Any]]]:
    """The role and the blocks of a message, in protocols whose results of tools come from the user."""
    if isinstance(message, ToolCallResultMessage):
        return "user", list(map(result_block, message.results))
    read = (part_of(each, provider, text_block, file_block) for each in message.content or ())
    parts = [part for part in read if part is not None]
    if not isinstance(message, AssistantMessage):
        return "user", parts
    return "assistant", parts + list(map(call_block, message.tool_calls or ()))


def count(usage: Any, name: str) -> int:
    """A count of an answer; 0 if it is missing or senseless."""
    return _count(usage, name) or 0


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else None


def usage_or_none(usage: Any, made: TokenUsage, *names: str) -> TokenUsage | None:
    """The usage; None if one of these counts is missing or senseless: the call is not free, but its usage unknown."""
    return None if any(_count(usage, name) is None for name in names) else made


def maybe_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def items(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; other items and other values are left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def unreadable(what: str) -> AgentError:
    """The answer of the provider has not the form of its protocol."""
    return AgentError(FAILED_MODEL_CALL, f"the answer of the provider cannot be read: {what}", final=False)
