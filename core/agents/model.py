"""A request to a model and its answer, whatever the provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vivero.core.agents.memory.context import Content, Message, TokenUsage, ToolDefinition
from vivero.core.feel import EvaluationError, from_json

STOP, LENGTH, TOOL_USE, CONTENT_FILTERED = "STOP", "LENGTH", "TOOL_USE", "CONTENT_FILTERED"
PDF = "application/pdf"
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""The files that all protocols take, beside texts."""
MOST_VALUES = 20_000
MOST_CALLS = 256
"""Tool calls of one answer that are read: further ones are left out, as if the model had not made them."""
CHARACTERS_PER_TOKEN = 3
"""A cautious estimate, where a provider has not counted."""
PAUSE = "PAUSE"
"""The model wants to be asked again, without input."""


def parsed_text(text: str) -> Any:
    """The value of a text that a model has written as JSON. None: it is none, or has more values than are read.

    Other work of the program waits meanwhile.
    """
    if sum(map(text.count, ",[{")) > MOST_VALUES:
        return None
    try:
        return from_json(text)
    except (EvaluationError, ArithmeticError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The form of the response: text, or JSON that fits a schema if there is one."""

    is_json: bool = False
    schema: Mapping[str, Any] | None = None
    schema_name: str = "Response"
    parses_json: bool = False
    """A text that is JSON becomes a value, too."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The messages in the window, the tools that the model may call, and the form of the response."""

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition]
    format: ResponseFormat


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool call as the model wrote it. `arguments` None: they are not a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer to one call."""

    content: list[Content]
    calls: list[AskedCall]
    usage: TokenUsage | None
    """None: the provider does not say."""
    stop_reason: str
    model_id: str | None = None
    message_id: str | None = None
