"""Records and filters of `client.elements`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyValue,
    TextFilter,
    TimeFilter,
    Where,
)


class ElementInstanceRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/element-instances/search."""

    process_definition_id: str
    start_date: datetime
    end_date: datetime | None = None
    element_id: str
    element_name: str
    type: str
    state: str
    has_incident: bool
    tenant_id: str
    element_instance_key: str
    process_instance_key: str
    root_process_instance_key: str
    process_definition_key: str
    incident_key: str | None = None


class ElementInstanceFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    process: str
    start_date: TimeFilter
    end_date: TimeFilter
    element_id: TextFilter
    element_name: TextFilter
    type: Literal[
        "UNSPECIFIED",
        "PROCESS",
        "SUB_PROCESS",
        "AD_HOC_SUB_PROCESS",
        "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
        "EVENT_SUB_PROCESS",
        "CALL_ACTIVITY",
        "MULTI_INSTANCE_BODY",
        "START_EVENT",
        "END_EVENT",
        "INTERMEDIATE_THROW_EVENT",
        "INTERMEDIATE_CATCH_EVENT",
        "BOUNDARY_EVENT",
        "EVENT_BASED_GATEWAY",
        "SERVICE_TASK",
        "SEND_TASK",
        "RECEIVE_TASK",
        "BUSINESS_RULE_TASK",
        "SCRIPT_TASK",
        "USER_TASK",
        "TASK",
        "MANUAL_TASK",
        "EXCLUSIVE_GATEWAY",
        "PARALLEL_GATEWAY",
        "INCLUSIVE_GATEWAY",
        "SEQUENCE_FLOW",
        "UNKNOWN",
    ]
    state: Literal["ACTIVE", "COMPLETED", "TERMINATED"] | Sequence[str] | Where
    has_incident: bool
    tenant_id: str
    element_instance_key: KeyValue
    process_instance_key: KeyValue
    process_definition_key: KeyValue
    incident_key: KeyValue
    element_instance_scope_key: KeyValue
    any_of: Sequence[ElementInstanceFilter]


ElementInstanceSort = Literal[
    "process_definition_id",
    "start_date",
    "end_date",
    "element_id",
    "element_name",
    "type",
    "state",
    "tenant_id",
    "element_instance_key",
    "process_instance_key",
    "process_definition_key",
    "incident_key",
]
