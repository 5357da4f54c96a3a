"""Records and filters of `client.message_subscriptions`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    NumberFilter,
    TextFilter,
    TimeFilter,
    Where,
)


class MessageSubscriptionRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/message-subscriptions/search."""

    message_subscription_key: str
    process_definition_id: str | None = None
    process_definition_key: str | None = None
    process_definition_name: str | None = None
    process_definition_version: int | None = None
    process_instance_key: str | None = None
    root_process_instance_key: str | None = None
    element_id: str | None = None
    element_instance_key: str | None = None
    message_subscription_state: str | None = None
    message_subscription_type: str | None = None
    last_updated_date: datetime | None = None
    message_name: str | None = None
    correlation_key: str | None = None
    tenant_id: str | None = None
    tool_name: str | None = None
    inbound_connector_type: str | None = None
    business_id: str | None = None
    tool_properties: Any = None


class MessageSubscriptionFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    message_subscription_key: KeyFilter
    process: TextFilter
    process_definition_key: KeyFilter
    process_definition_name: TextFilter
    process_definition_version: NumberFilter
    process_instance_key: KeyFilter
    element_id: TextFilter
    element_instance_key: KeyFilter
    message_subscription_state: Literal["CORRELATED", "CREATED", "DELETED", "MIGRATED"] | Sequence[str] | Where
    message_subscription_type: Literal["PROCESS_EVENT", "START_EVENT"] | Sequence[str] | Where
    last_updated_date: TimeFilter
    message_name: TextFilter
    correlation_key: TextFilter
    tenant_id: TextFilter
    tool_name: TextFilter
    inbound_connector_type: TextFilter
    business_id: TextFilter


MessageSubscriptionSort = Literal[
    "message_subscription_key",
    "process_definition_id",
    "process_definition_name",
    "process_definition_version",
    "process_instance_key",
    "element_id",
    "element_instance_key",
    "message_subscription_state",
    "message_subscription_type",
    "last_updated_date",
    "message_name",
    "correlation_key",
    "tenant_id",
    "tool_name",
    "inbound_connector_type",
]
