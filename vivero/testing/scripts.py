"""Scripts of models: what the model of an AI agent answers in a test, and what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vivero.core.agents.memory.context import Message, TokenUsage, ToolCallResultMessage, UserMessage
from vivero.core.agents.results import text_of


@dataclass(frozen=True, slots=True)
class Tool:
    """A call of a tool, by the id of its element."""

    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={json.dumps(value, default=str)}" for name, value in self.arguments.items())
        return f"{self.name}({given})"


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a model."""

    content: str


def tool(name: str, /, **arguments: Any) -> Tool:
    """The model calls a tool, by the id of its element, with these arguments."""
    return Tool(name, arguments)


def text(content: Any) -> Text:
    """The model answers with a text; another value becomes JSON."""
    return Text(content if isinstance(content, str) else msgspec.json.encode(content).decode())


class RecordedTurn(msgspec.Struct, frozen=True):
    """A line of the output of `vivero agents rerun`."""

    element: str = ""
    said: str = ""
    calls: list[Tool] = []


def recorded(file: str | Path, element: str) -> list[Text | list[Tool]]:
    """The answers of the model of an agent that really were, as a script.

    `file`: the output of `vivero agents rerun KEY --json`. Raises ValueError: it is another file, or has no answer.
    """
    try:
        lines = [line for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]
        turns = [msgspec.json.decode(line, type=RecordedTurn) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is no output of `vivero agents rerun KEY --json`: {error}") from error
    found = [turn.calls or Text(turn.said) for turn in turns if turn.element == element]
    if not found:
        raise ValueError(f"{file} has no answer of a model of '{element}'")
    return found


class ToolResult(NamedTuple):
    """The result of a tool, as the model sees it."""

    tool: str
    text: str


@dataclass(slots=True)
class ModelCall:
    """One request to a model, and its answer."""

    tools: tuple[str, ...]
    """The tools that it may call."""
    messages: Sequence[Message]
    variables: Mapping[str, Any]
    """All variables that the element sees."""
    called: tuple[Tool, ...] = ()
    """The tools that its answer calls, also those that do not exist."""
    said: str | None = None
    used: TokenUsage = field(default_factory=lambda: TokenUsage(0, 0))
    """An estimate: a token for 3 characters."""

    @property
    def tokens(self) -> int:
        """An estimate for request and answer."""
        return self.used.input + self.used.output

    @property
    def prompt(self) -> str:
        """The newest message of the user."""
        asked = [message for message in self.messages if isinstance(message, UserMessage)]
        return "\n".join(map(text_of, asked[-1].content)) if asked else ""

    @property
    def results(self) -> list[ToolResult]:
        """The results of tools that the model sees, in their order."""
        found = [
            one for message in self.messages if isinstance(message, ToolCallResultMessage) for one in message.results
        ]
        return [ToolResult(one.name, "\n".join(map(text_of, one.content))) for one in found]


Said = Text | Tool | Sequence[Tool]
"""An answer: a text, a call of a tool, or several at once."""
ModelFunction = Callable[[ModelCall], Said]
"""A function from the request to an answer. It may raise JobFailure: the call of the model fails."""
Script = Sequence[Said | ModelFunction] | ModelFunction
"""The answers of a model to one instance in their order, or a function that answers all requests."""
