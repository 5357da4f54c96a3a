"""The variable `agentContext`: what an agent knows between two jobs, with the names that models and consoles use.

Camunda 8 writes the same document. One without `schemaVersion` is of 8.9: the content of its tool results is the bare
value, which is lifted when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from vivero.core.agents.errors import INVALID_INPUT, AgentError

SCHEMA_VERSION = 1
IN_PROCESS, DOCUMENT_STORE = "in-process", "camunda-document"
"""The places of conversations: the variable itself, or a document."""
ELEMENT_INSTANCE = "elementInstanceKey"
"""The property with the element instance that the last iteration belonged to."""

OF_TOOLS = "toolCallDocuments"
"""The mark in the metadata of a message with the documents of tool results."""


class AgentState(StrEnum):
    """Whether the tools of an agent are known."""

    INITIALIZING = "INITIALIZING"
    TOOL_DISCOVERY = "TOOL_DISCOVERY"
    READY = "READY"


class TextContent(msgspec.Struct, frozen=True, tag="text"):
    """A text."""

    text: str


class DataContent(msgspec.Struct, frozen=True, tag="object"):
    """A value that is no text."""

    content: Any


class ReasoningContent(msgspec.Struct, frozen=True, tag="reasoning"):
    """Reasoning of a model, which only its own provider reads again."""

    provider: str
    payload: Any


class ProviderContent(msgspec.Struct, frozen=True, tag="provider"):
    """Another part of an answer that only its own provider reads again."""

    provider: str
    payload: Any


class DocumentContent(msgspec.Struct, frozen=True, tag="document"):
    """A reference to a document."""

    document: Any


class FileContent(msgspec.Struct, frozen=True, tag="file"):
    """The file of a document in a request. It is never in a context."""

    name: str
    media_type: str
    base64: str


Content = TextContent | DataContent | ReasoningContent | ProviderContent | DocumentContent | FileContent


class SystemMessage(msgspec.Struct, frozen=True, tag_field="role", tag="system"):
    content: list[Content]


class UserMessage(msgspec.Struct, frozen=True, tag_field="role", tag="user", omit_defaults=True):
    content: list[Content]
    metadata: dict[str, Any]
    name: str | None = None

    @property
    def has_documents_of_tools(self) -> bool:
        """Whether it has the documents of the results before it."""
        return bool(self.metadata.get(OF_TOOLS))


class ToolCall(msgspec.Struct, frozen=True):
    """A call of a tool that a model asks for. `name` is that of a tool definition."""

    id: str
    name: str
    arguments: dict[str, Any]


class AssistantMessage(
    msgspec.Struct, frozen=True, tag_field="role", tag="assistant", rename="camel", omit_defaults=True
):
    metadata: dict[str, Any]
    content: list[Content] | None = None
    tool_calls: list[ToolCall] | None = None
    model_id: str | None = None
    message_id: str | None = None
    stop_reason: str | None = None


class ToolCallResult(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The result of one call. `interrupted`: the call was cancelled by an event."""

    id: str
    name: str
    content: list[Content]
    element_id: str | None = None
    completed_at: Any = None
    interrupted: bool = False


class ToolCallResultMessage(msgspec.Struct, frozen=True, tag_field="role", tag="tool_call_result"):
    results: list[ToolCallResult]


Message = SystemMessage | UserMessage | AssistantMessage | ToolCallResultMessage


class Conversation(msgspec.Struct, frozen=True, rename="camel"):
    """The memory `in-process`: all messages, in the variable."""

    type: str
    conversation_id: str
    messages: list[Message]


class TokenUsage(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens. Those read from a cache are not among the input, and those of reasoning are a part of the output."""

    input_token_count: int | UnsetType = UNSET
    output_token_count: int | UnsetType = UNSET
    cache_read_token_count: int = 0
    cache_creation_token_count: int = 0
    reasoning_token_count: int = 0

    @property
    def input(self) -> int:
        return self.input_token_count or 0

    @property
    def output(self) -> int:
        return self.output_token_count or 0

    def plus(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read_token_count + other.cache_read_token_count,
            self.cache_creation_token_count + other.cache_creation_token_count,
            self.reasoning_token_count + other.reasoning_token_count,
        )


class AgentMetrics(msgspec.Struct, frozen=True, rename="camel"):
    """Sums over all turns, also over those of earlier element instances with the same context."""

    model_calls: int = 0
    tool_calls: int = 0
    token_usage: TokenUsage = TokenUsage(0, 0)


class AgentMetadata(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    process_definition_key: Any
    process_instance_key: Any
    agent_instance_key: Any = None
    last_iteration_key: Any = None


class ToolDefinition(msgspec.Struct, frozen=True, rename="camel"):
    """A tool as the model sees it. `input_schema` is a JSON schema of an object."""

    name: str
    description: str
    input_schema: dict[str, Any]


class AgentContext(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    schema_version: int
    state: AgentState
    metadata: AgentMetadata
    metrics: AgentMetrics
    tool_definitions: list[ToolDefinition]
    conversation: Conversation
    properties: dict[str, Any] = {}


def read_context(value: Mapping[str, Any]) -> AgentContext:
    """The context in a variable. Raises AgentError with the path of what is wrong."""
    document = dict(value)
    version = document.setdefault("schemaVersion", None)
    if version is None:
        document = _lifted(document)
    elif version != SCHEMA_VERSION:
        raise _wrong(f"its schemaVersion is {version!r}, and only {SCHEMA_VERSION} is known")
    kind = (document.get("conversation") or {}).get("type") if isinstance(document.get("conversation"), dict) else None
    if kind not in (None, IN_PROCESS):
        raise AgentError("UNSUPPORTED", f"agentContext: its conversation is stored as '{kind}', only {IN_PROCESS} is")
    try:
        return msgspec.convert(document, AgentContext, strict=False)
    except msgspec.ValidationError as error:
        raise _wrong(str(error)) from error


def written(context: AgentContext) -> dict[str, Any]:
    """The document of a context, for a variable."""
    document: dict[str, Any] = built(context)
    return document


def built(value: Any) -> Any:
    """A record as plain data, with numbers as they are."""
    return msgspec.to_builtins(value, builtin_types=(Decimal,))


def _wrong(why: str) -> AgentError:
    return AgentError(INVALID_INPUT, f"agentContext is not a context of an agent: {why}")


def _lifted(document: dict[str, Any]) -> dict[str, Any]:
    """A context of 8.9 in the form of today."""
    conversation = document.get("conversation")
    if isinstance(conversation, dict) and isinstance(conversation.get("messages"), list):
        messages = [_lifted_message(message) for message in conversation["messages"]]
        conversation = {**conversation, "messages": messages}
    return {
        "toolDefinitions": [],
        "metadata": {"processDefinitionKey": None, "processInstanceKey": None},
        **{name: item for name, item in document.items() if item is not None},
        "schemaVersion": SCHEMA_VERSION,
        "conversation": conversation or {"type": IN_PROCESS, "conversationId": "", "messages": []},
    }


def _lifted_message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    if message.get("role") == "tool_call_result" and isinstance(message.get("results"), list):
        return {**message, "results": [_lifted_result(result) for result in message["results"]]}
    return {"metadata": {}, **{name: item for name, item in message.items() if item is not None}}


def _lifted_result(result: Any) -> Any:
    if not isinstance(result, dict):
        return result
    content = result.get("content")
    if isinstance(content, list) and content and all(isinstance(each, dict) and "type" in each for each in content):
        return result
    lifted = {"type": "text", "text": content} if isinstance(content, str) else {"type": "object", "content": content}
    return {**result, "content": [lifted]}
