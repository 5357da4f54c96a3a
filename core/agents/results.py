"""Results of tool calls and events, as the variable `toolCallResults` has them.

They are data: nothing in them is evaluated, and each is bounded before a model sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from vivero.core.agents.errors import INVALID_INPUT, UNSUPPORTED_DOCUMENT, AgentError
from vivero.core.agents.memory.context import (
    OF_TOOLS,
    Content,
    DataContent,
    DocumentContent,
    TextContent,
    ToolCall,
    ToolCallResult,
    UserMessage,
)
from vivero.core.feel import to_json

MAX_RESULT_CHARACTERS = 64 * 1024
"""A longer result loses its end, with a note."""
NO_RESULT = "The tool has ended. It gave no result."
INTERRUPTED = "The tool was cancelled by an event before it ended."
EMPTY_EVENT = "An event has occurred. It has no data."
DOCUMENT = "camunda.document.type"
MOST_DOCUMENTS = 20
"""The documents of a prompt, or of the results of a turn."""


@dataclass(frozen=True, slots=True)
class GivenResult:
    """An entry of the variable. `id` None: an event."""

    id: str | None
    name: str
    value: Any
    completed_at: Any


def read_results(value: Any) -> list[GivenResult]:
    """The entries of the variable. Raises AgentError."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise AgentError(INVALID_INPUT, "toolCallResults is not a list")
    return [_read(number, each) for number, each in enumerate(value)]


def _read(number: int, entry: Any) -> GivenResult:
    if not isinstance(entry, dict):
        raise AgentError(INVALID_INPUT, f"toolCallResults[{number}] is not a context")
    id, name = entry.get("id"), entry.get("name")
    return GivenResult(
        None if id is None else str(id),
        "" if name is None else str(name),
        entry.get("content"),
        entry.get("completedAt"),
    )


def _documents(value: Any) -> Iterator[dict[str, Any]]:
    """The references to documents in a value."""
    if isinstance(value, dict):
        if DOCUMENT in value:
            yield value
        else:
            for item in value.values():
                yield from _documents(item)
    elif isinstance(value, list):
        for item in value:
            yield from _documents(item)


def prompt_of(text: str, documents: Any) -> UserMessage | None:
    """The prompt of the user. None: it is empty. Raises AgentError if a document is no reference."""
    given = documents if isinstance(documents, list) else [] if documents in (None, "") else [documents]
    if not all(isinstance(each, dict) and DOCUMENT in each for each in given):
        raise AgentError(UNSUPPORTED_DOCUMENT, "data.userPrompt.documents: an item is no reference to a document")
    content: list[Content] = [TextContent(text)] if text.strip() else []
    content += [DocumentContent(each) for each in given[:MOST_DOCUMENTS]]
    if len(given) > MOST_DOCUMENTS:
        raise AgentError(UNSUPPORTED_DOCUMENT, f"data.userPrompt.documents has more than {MOST_DOCUMENTS} documents")
    return UserMessage(content, {}) if content else None


def documents_message(given: Iterable[GivenResult]) -> UserMessage | None:
    """The documents of results, each behind a text that says where it comes from. None: there are none."""
    content: list[Content] = []
    for result in given:
        for number, document in enumerate(_documents(result.value)):
            tag = f"Document {number + 1} in the result of {result.name or 'an event'}, call {result.id}:"
            content += [TextContent(tag), DocumentContent(document)]
    if len(content) > 2 * MOST_DOCUMENTS:
        content = [*content[: 2 * MOST_DOCUMENTS], TextContent("Further documents are left out.")]
    return UserMessage(content, {OF_TOOLS: True}) if content else None


def result_of(call: ToolCall, given: GivenResult) -> ToolCallResult:
    """The result of a call for the conversation."""
    return ToolCallResult(call.id, call.name, [content_of(given.value, NO_RESULT)], call.name, given.completed_at)


def cancelled(call: ToolCall, element: str) -> ToolCallResult:
    """The result of a call that an event has cancelled."""
    return ToolCallResult(call.id, call.name, [TextContent(INTERRUPTED)], element, interrupted=True)


def written_result(given: GivenResult) -> dict[str, Any]:
    """The entry of the variable."""
    entry = {"id": given.id, "name": given.name, "content": given.value}
    return entry if given.completed_at is None else {**entry, "completedAt": given.completed_at}


def event_message(given: GivenResult) -> UserMessage:
    """An event as a message. Its value may be empty."""
    empty = given.value in (None, {}, []) or (isinstance(given.value, str) and not given.value.strip())
    return UserMessage([TextContent(EMPTY_EVENT) if empty else content_of(given.value, EMPTY_EVENT)], {})


def content_of(value: Any, note: str) -> Content:
    """A value as a part of a message, with bounds. `note`: the text for an empty one."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return TextContent(note)
    if isinstance(value, str):
        return TextContent(_bounded(value))
    content = to_json(value)
    return DataContent(value) if len(content) <= MAX_RESULT_CHARACTERS else TextContent(_bounded(content))


def _bounded(content: str) -> str:
    if len(content) <= MAX_RESULT_CHARACTERS:
        return content
    return f"{content[:MAX_RESULT_CHARACTERS]}\n[{len(content) - MAX_RESULT_CHARACTERS} characters were left out]"


def text_of(content: Content) -> str:
    """A part of a message as text for a model. Parts of providers, documents and files have none."""
    if isinstance(content, TextContent):
        return content.text
    return to_json(content.content) if isinstance(content, DataContent) else ""
