"""Errors of agents, with the codes that error expressions of models match on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FAILED_MODEL_CALL = "FAILED_MODEL_CALL"
MAXIMUM_CALLS = "MAXIMUM_NUMBER_OF_MODEL_CALLS_REACHED"
NOT_PARSED = "FAILED_TO_PARSE_RESPONSE_CONTENT"
FILTERED = "MODEL_RESPONSE_CONTENT_FILTERED"
NO_USER_MESSAGE = "NO_USER_MESSAGE_CONTENT"
RESULTS_WITHOUT_CONTEXT = "TOOL_CALL_RESULTS_ON_EMPTY_CONTEXT"
MISSING_TOOLS = "MIGRATION_MISSING_TOOLS"
CHANGED_GATEWAYS = "MIGRATION_GATEWAY_TOOL_DEFINITIONS_CHANGED"
INVALID_TOOL = "INVALID_TOOL_DEFINITION"
UNSUPPORTED_DOCUMENT = "UNSUPPORTED_DOCUMENT"
UNSUPPORTED = "UNSUPPORTED"
INVALID_INPUT = "INVALID_INPUT"


@dataclass(slots=True)
class AgentError(Exception):
    """The agent cannot go on. `final`: a repetition fails, too. `retry_after_s`: the pause that the provider asks for.

    `is_unbilled`: the provider has refused the request, or was not asked. Nothing in it quotes a prompt or an answer.
    """

    code: str
    message: str
    final: bool = True
    variables: Mapping[str, Any] = field(default_factory=dict)
    retry_after_s: float | None = None
    is_unbilled: bool = False

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
