"""Records and filters of `client.correlated_messages`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    NumberFilter,
    TextFilter,
    TimeFilter,
)


class CorrelatedMessageRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/correlated-message-subscriptions/search."""

    message_key: str
    subscription_key: str
    message_name: str
    correlation_key: str | None = None
    correlation_time: datetime
    element_id: str
    element_instance_key: str | None = None
    process_definition_id: str
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str
    partition_id: int | None = None
    tenant_id: str
    business_id: str | None = None


class CorrelatedMessageFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    message_key: KeyFilter
    subscription_key: KeyFilter
    message_name: TextFilter
    correlation_key: TextFilter
    correlation_time: TimeFilter
    element_id: TextFilter
    element_instance_key: KeyFilter
    process: TextFilter
    process_definition_key: KeyFilter
    process_instance_key: KeyFilter
    partition_id: NumberFilter
    tenant_id: TextFilter
    business_id: TextFilter


CorrelatedMessageSort = Literal[
    "message_key",
    "subscription_key",
    "message_name",
    "correlation_key",
    "correlation_time",
    "element_id",
    "element_instance_key",
    "process_definition_id",
    "process_definition_key",
    "process_instance_key",
    "partition_id",
    "tenant_id",
    "business_id",
]
