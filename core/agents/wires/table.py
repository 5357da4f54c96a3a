"""The table of contents of the protocols, and what the failures of a call mean for a repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vivero.core.agents.errors import FAILED_MODEL_CALL, AgentError
from vivero.core.agents.model import ModelAnswer, ModelRequest
from vivero.core.agents.wires import anthropic_messages, chat_completions, converse
from vivero.core.agents.wires.providers import CHAT, CONVERSE, MESSAGES
from vivero.core.texts.fields import MOST_RETRY_AFTER_S, retry_after_s

REPEATED = (408, 409, 425, 429)
"""Statuses below 500 after which a repetition may be answered."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One protocol: the body of a request, and the answer in the body of a response."""

    body: Callable[[ModelRequest, str, Mapping[str, Any]], dict[str, Any]]
    answer: Callable[[Any, ModelRequest], ModelAnswer]


WIRES: Mapping[str, Wire] = {
    CHAT: Wire(chat_completions.body, chat_completions.answer),
    MESSAGES: Wire(anthropic_messages.body, anthropic_messages.answer),
    CONVERSE: Wire(converse.body, converse.answer),
}


def refusal(status: int, document: Any, retry_after: str | None) -> AgentError:
    """The error of a response with a status of 300 or more. Its variables tell neither prompt nor answer."""
    code = _provider_code(document)
    asked_s = retry_after_s(retry_after)
    wait_s = None if asked_s is None else min(asked_s, MOST_RETRY_AFTER_S)
    variables = {"status": status, "providerCode": code, "retryAfter": None if wait_s is None else round(wait_s)}
    known = {name: value for name, value in variables.items() if value is not None}
    said = f" ({code})" if code else ""
    is_final = status < 500 and status not in REPEATED
    return AgentError(
        FAILED_MODEL_CALL, f"the provider answers {status}{said}", is_final, known, wait_s, is_unbilled=True
    )


def _provider_code(document: Any) -> str | None:
    """The short code of an error; its message may quote the prompt."""
    if not isinstance(document, dict):
        return None
    error = document.get("error")
    for source in (error, document):
        for name in ("code", "type", "__type"):
            value = source.get(name) if isinstance(source, dict) else None
            if isinstance(value, str) and value and len(value) <= 100 and value.isprintable() and " " not in value:
                return value
    return None
