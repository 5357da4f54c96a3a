"""Gateways to agents of other systems (A2A): each is one tool, `A2A_<element>`, which its card describes.

A gateway is an element with the property `io.camunda.agenticai.gateway.type` = `a2aClient`. A call of its tool
activates the element with the message in `toolCall`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vivero.core.agents.errors import AgentError
from vivero.core.agents.memory.context import ToolCall, ToolDefinition
from vivero.core.agents.results import GivenResult
from vivero.core.bpmn.elements.approvals import AGENT
from vivero.core.feel import to_json

KIND = AGENT
CLIENTS = "a2aClients"
"""The property of a context with the ids of the gateways whose tools it has."""
INVALID = "A2A_GATEWAY_INVALID_AGENT_CARD"
PREFIX, DISCOVERY = "A2A_", "A2A_fetchAgentCard_"
MOST_CARD_CHARACTERS = 32 * 1024
"""The description of one agent, which goes with each question to the model."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The message to the agent."},
        "contextId": {"type": "string", "description": "To go on with a conversation: its id, from an earlier result."},
        "taskId": {"type": "string", "description": "To go on with a task that has not ended: its id."},
        "referenceTaskIds": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of earlier tasks that the message refers to.",
        },
    },
    "required": ["text"],
}


def discovery_call(id: str) -> ToolCall:
    """The call that asks a gateway for its card."""
    return ToolCall(f"{DISCOVERY}{id}", id, {"operation": "fetchAgentCard"})


def tool_of(id: str, value: Any) -> ToolDefinition:
    """The tool of a gateway, from the result of that call. Raises AgentError that names the gateway."""
    card = value.get("result", value) if isinstance(value, dict) else None
    if not isinstance(card, dict) or not isinstance(card.get("name"), str):
        raise _invalid(id, "its result is not the card of an agent")
    skills = card.get("skills") or []
    about = f"The agent {card['name']}. {card.get('description') or ''}\nSkills: {to_json(skills)}"
    if len(about) > MOST_CARD_CHARACTERS:
        raise _invalid(id, f"its card has more than {MOST_CARD_CHARACTERS} characters")
    return ToolDefinition(f"{PREFIX}{id}", about, dict(_SCHEMA))


def _invalid(id: str, why: str) -> AgentError:
    again = "to ask the gateways again, set agentContext to null and toolCallResults to [] in the sub-process"
    return AgentError(INVALID, f"the gateway '{id}': {why} ({again})")


def route(name: str, gateways: Iterable[str]) -> str | None:
    """The gateway whose tool a name means."""
    id = name.removeprefix(PREFIX)
    return id if name.startswith(PREFIX) and id in gateways else None


def routed(call: ToolCall, id: str) -> ToolCall:
    """The call as its element gets it."""
    return ToolCall(call.id, id, {"operation": "sendMessage", "params": call.arguments})


def is_discovery(result: GivenResult) -> bool:
    """Whether it is the result of a call that asked for a card."""
    return result.id is not None and result.id.startswith(DISCOVERY)
