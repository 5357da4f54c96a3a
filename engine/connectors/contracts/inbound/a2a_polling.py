"""Tasks of A2A agents that are asked for until they end: `io.camunda.agenticai:a2aclient:polling:0`."""

from __future__ import annotations

from vivero.engine.connectors.contract import InboundContract, Input, Kind
from vivero.engine.connectors.contracts.tool_servers.a2a import A2A_ERROR, ACCESS, CARD_LOCATION, HISTORY

A2A_POLLING = InboundContract(
    name="A2A polling",
    types=("io.camunda.agenticai:a2aclient:polling:0",),
    inputs=(
        Input("data.connection.url", required=True),
        Input("data.connection.agentCardLocation", default=CARD_LOCATION),
        Input(ACCESS, Kind.CONTEXT),
        Input("data.clientResponse", Kind.CONTEXT, required=True),
        Input("data.historyLength", Kind.NUMBER, HISTORY),
        Input("data.taskPollingInterval", Kind.DURATION, "PT10S"),
        Input("data.processPollingInterval", Kind.DURATION, "PT5S"),
    ),
    result="result, and its fields",
    handler="vivero.engine.connectors.a2a.polls:AgentPolls",
    secrets=("data.connection",),
    errors=(A2A_ERROR, "TOKEN_REFUSED"),
    starts=False,
    per_wait=True,
    ttl_s=0.0,
)
