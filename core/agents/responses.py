"""The response of an agent: the context that becomes the variable `agent`."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from vivero.core.agents.errors import NOT_PARSED, AgentError
from vivero.core.agents.inputs import AgentInputs
from vivero.core.agents.loop import REFUSED, Activate, Respond, tool_call_variable
from vivero.core.agents.memory.context import AgentContext, AssistantMessage, TextContent, built, written
from vivero.core.agents.model import parsed_text

_FENCED = re.compile(r"\s*```[A-Za-z]*[ \t]*\n(.*?)\n?\s*```\s*", re.DOTALL)


def response_of(message: AssistantMessage, context: AgentContext, inputs: AgentInputs) -> dict[str, Any]:
    """The response of a message without tool calls. Empty fields are absent.

    Raises AgentError: the format is JSON, and the text is not.
    """
    said = _text(message)
    response: dict[str, Any] = {}
    if inputs.format.is_json:
        response["responseJson"] = _parsed(said or "")
    elif said is not None:
        response["responseText"] = said
        if inputs.format.parses_json and (value := _parsed_if(said)) is not None:
            response["responseJson"] = value
    if inputs.includes_message:
        response["responseMessage"] = built(message)
    if inputs.includes_context:
        response["context"] = written(context)
    return response


def _parsed(text: str) -> Any:
    value = _parsed_if(text)
    if value is None:
        raise AgentError(NOT_PARSED, "the answer of the model is not valid JSON")
    return value


def _parsed_if(text: str) -> Any:
    """The value of a text that is JSON, perhaps in a fence; None for another."""
    fenced = _FENCED.fullmatch(text)
    return parsed_text(fenced[1] if fenced else text)


def task_response(step: Activate | Respond, inputs: AgentInputs) -> dict[str, Any]:
    """The response of an agent that is a task: with its context, and the tool calls that the process makes itself.

    Raises AgentError, as `response_of` does.
    """
    if isinstance(step, Respond):
        return {**response_of(step.message, step.context, inputs), "context": written(step.context), "toolCalls": []}
    context = replace(step.context, properties={**step.context.properties, REFUSED: step.refused})
    said = _text(step.message)
    return {
        **({} if said is None else {"responseText": said}),
        "context": written(context),
        "toolCalls": [tool_call_variable(call) for call in step.calls],
    }


def _text(message: AssistantMessage) -> str | None:
    """The first text of a message."""
    return next((part.text for part in message.content or () if isinstance(part, TextContent)), None)
