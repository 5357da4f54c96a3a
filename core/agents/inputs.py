"""The inputs of an agent, as its element templates map them (docs/agents.md). Unknown inputs are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from vivero.core.agents.errors import INVALID_INPUT, UNSUPPORTED, AgentError
from vivero.core.agents.memory.context import DOCUMENT_STORE, IN_PROCESS, AgentContext, UserMessage, read_context
from vivero.core.agents.model import ResponseFormat
from vivero.core.agents.results import GivenResult, prompt_of, read_results
from vivero.core.feel import to_json

DEFAULT_WINDOW, DEFAULT_CALLS = 20, 10
MOST_CALLS = 1000
WAIT, INTERRUPT = "wait_for_tool_call_results", "interrupt_tool_calls"
TEXT, JSON = "text", "json"


@dataclass(frozen=True, slots=True)
class AgentInputs:
    """The inputs of one job."""

    elements: Any
    context: AgentContext | None
    results: list[GivenResult]
    system_prompt: str
    prompt: UserMessage | None
    """None: it is empty."""
    window: int
    max_calls: int
    interrupts: bool
    format: ResponseFormat
    includes_message: bool
    includes_context: bool


def read_inputs(elements: Any, context: Any, results: Any, data: Any) -> AgentInputs:
    """The inputs of a job. Raises AgentError that names the input."""
    if not isinstance(data, dict):
        raise _wrong("data", "is missing")
    if (storage := _choice(data, "memory.storage.type", (), IN_PROCESS)) not in (IN_PROCESS, DOCUMENT_STORE):
        known = f"only {IN_PROCESS} and {DOCUMENT_STORE} are"
        raise AgentError(UNSUPPORTED, f"data.memory.storage.type '{storage}' is not supported, {known}")
    if context is not None and not isinstance(context, dict):
        raise _wrong("agentContext", "is not a context")
    return AgentInputs(
        elements,
        None if context is None else read_context(context),
        read_results(results),
        text(data, "systemPrompt.prompt"),
        prompt_of(text(data, "userPrompt.prompt"), get(data, "userPrompt.documents")),
        _number(data, "memory.contextWindowSize", DEFAULT_WINDOW),
        _number(data, "limits.maxModelCalls", DEFAULT_CALLS),
        _choice(data, "events.behavior", (WAIT, INTERRUPT), WAIT) == INTERRUPT,
        _format(data),
        flag(data, "response.includeAssistantMessage"),
        flag(data, "response.includeAgentContext"),
    )


def _format(data: Mapping[str, Any]) -> ResponseFormat:
    kind = _choice(data, "response.format.type", (TEXT, JSON), TEXT)
    if kind == TEXT:
        return ResponseFormat(parses_json=flag(data, "response.format.parseJson"))
    schema = get(data, "response.format.schema")
    if schema is not None and not isinstance(schema, dict):
        raise _wrong("data.response.format.schema", "is not a JSON schema")
    return ResponseFormat(True, schema, text(data, "response.format.schemaName") or "Response")


def get(values: Any, path: str) -> Any:
    """The value at a path of names. None: it is missing."""
    for name in path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values


def text(values: Any, path: str) -> str:
    """A text; other values as JSON, and nothing as an empty text."""
    value = get(values, path)
    return value if isinstance(value, str) else "" if value is None else to_json(value)


def flag(values: Any, path: str) -> bool:
    """A boolean, or its text. Raises AgentError."""
    value = get(values, path)
    known = value if isinstance(value, bool) else {"": False, "true": True, "false": False}.get(text(values, path))
    if known is None:
        raise _wrong(f"data.{path}", "is neither true nor false")
    return known


def _choice(values: Any, path: str, allowed: tuple[str, ...], default: str) -> str:
    """An enumeration in any case. `allowed` empty: any text."""
    value = text(values, path).strip().lower() or default
    if allowed and value not in allowed:
        raise _wrong(f"data.{path}", f"is not one of {', '.join(allowed)}")
    return value


def _number(values: Any, path: str, default: int) -> int:
    value = get(values, path)
    if value is None or value == "":
        return default
    try:
        number = Decimal(value if isinstance(value, str) else str(value))
    except ArithmeticError as error:
        raise _wrong(f"data.{path}", "is not a number") from error
    if isinstance(value, bool) or not number.is_finite() or number != int(number) or not 1 <= number <= MOST_CALLS:
        raise _wrong(f"data.{path}", f"must be a whole number from 1 to {MOST_CALLS}")
    return int(number)


def _wrong(name: str, why: str) -> AgentError:
    return AgentError(INVALID_INPUT, f"{name} {why}")
