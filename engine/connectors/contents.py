"""Table of contents: the connectors that the program works, by job type.

A new connector has a contract in `contracts`, and a line here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vivero.engine.connectors.contract import Contract, InboundContract
from vivero.engine.connectors.contracts.agents import AGENT, AGENT_TASK, TOOLS_SCHEMA
from vivero.engine.connectors.contracts.brokers.kafka import KAFKA, KAFKA_INBOUND
from vivero.engine.connectors.contracts.brokers.rabbitmq import RABBITMQ, RABBITMQ_INBOUND
from vivero.engine.connectors.contracts.email import EMAIL
from vivero.engine.connectors.contracts.graphql import GRAPHQL
from vivero.engine.connectors.contracts.http_json import HTTP_JSON
from vivero.engine.connectors.contracts.inbound.a2a_polling import A2A_POLLING
from vivero.engine.connectors.contracts.inbound.email import EMAIL_INBOUND
from vivero.engine.connectors.contracts.inbound.http_polling import HTTP_POLLING
from vivero.engine.connectors.contracts.send_message import SEND_MESSAGE
from vivero.engine.connectors.contracts.sendgrid import SENDGRID
from vivero.engine.connectors.contracts.slack import SLACK
from vivero.engine.connectors.contracts.tool_servers.a2a import A2A_CLIENT
from vivero.engine.connectors.contracts.tool_servers.mcp import MCP_CLIENT, MCP_REMOTE

CONTRACTS = (
    HTTP_JSON,
    SEND_MESSAGE,
    EMAIL,
    GRAPHQL,
    SENDGRID,
    SLACK,
    AGENT,
    AGENT_TASK,
    TOOLS_SCHEMA,
    MCP_REMOTE,
    MCP_CLIENT,
    A2A_CLIENT,
    KAFKA,
    RABBITMQ,
)
"""In the order of the documentation."""


def by_type(contracts: Iterable[Contract]) -> dict[str, Contract]:
    """Contracts by job type. Raises ValueError if two have the same type."""
    found: dict[str, Contract] = {}
    for contract in contracts:
        for type in contract.types:
            if type in found:
                raise ValueError(f"two connectors have the type {type}")
            found[type] = contract
    return found


BY_TYPE = by_type(CONTRACTS)

INBOUND_CONTRACTS = (HTTP_POLLING, EMAIL_INBOUND, KAFKA_INBOUND, RABBITMQ_INBOUND, A2A_POLLING)
"""Webhooks are apart: other systems call them, and nothing needs to run."""

INBOUND_BY_TYPE: Mapping[str, InboundContract] = {
    type: contract for contract in INBOUND_CONTRACTS for type in contract.types
}
