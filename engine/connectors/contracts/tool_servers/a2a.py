"""Agents of other systems, by the Agent2Agent protocol (A2A) 0.3: `io.camunda.agenticai:a2aclient:0`."""

from __future__ import annotations

from vivero.engine.connectors.contract import Contract, Input, Kind
from vivero.engine.connectors.contracts.tool_servers.mcp import AS_TOOL, STANDALONE

FETCH_CARD, SEND_MESSAGE = "fetchAgentCard", "sendMessage"
BLOCKING, POLLING, NOTIFICATION = "blocking", "polling", "notification"
CARD_LOCATION = ".well-known/agent-card.json"
A2A_ERROR = "A2A_ERROR"
HISTORY = 3
ACCESS = "data.connection.authentication"
"""The credentials for the agent, as HTTP calls have them in `authentication`."""

_STANDALONE, _TOOL = "data.connectorMode.operation", "data.connectorMode.toolOperation"

A2A_CLIENT = Contract(
    name="A2A agent",
    types=("io.camunda.agenticai:a2aclient:0",),
    inputs=(
        Input("data.connection.url", required=True),
        Input("data.connection.agentCardLocation", default=CARD_LOCATION),
        Input(ACCESS, Kind.CONTEXT),
        Input("data.connectorMode.type", default=STANDALONE, choices=(STANDALONE, AS_TOOL)),
        Input(f"{_STANDALONE}.type", choices=(FETCH_CARD, SEND_MESSAGE)),
        Input(f"{_STANDALONE}.params.text"),
        Input(f"{_STANDALONE}.params.contextId"),
        Input(f"{_STANDALONE}.params.taskId"),
        Input(f"{_STANDALONE}.params.referenceTaskIds", Kind.LIST),
        Input(f"{_STANDALONE}.params.documents", Kind.LIST),
        Input(f"{_STANDALONE}.settings", Kind.CONTEXT),
        Input(f"{_TOOL}.operation"),
        Input(f"{_TOOL}.params", Kind.CONTEXT),
        Input(f"{_TOOL}.sendMessageSettings", Kind.CONTEXT),
    ),
    result="result, pollingData, pushNotificationData",
    handler="vivero.engine.connectors.a2a.agent:A2aAgent",
    secrets=("data.connection", f"{_STANDALONE}.settings", f"{_TOOL}.sendMessageSettings"),
    errors=(A2A_ERROR, "TOKEN_REFUSED"),
    limit="agents.max_call",
)
