"""Records and filters of `client.wait_states`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    TextFilter,
    Where,
)


class WaitStateRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/element-instances/wait-states/search."""

    root_process_instance_key: str
    process_instance_key: str
    element_instance_key: str
    element_id: str | None = None
    element_type: str
    tenant_id: str
    bpmn_process_id: str
    details: Any = None


class WaitStateFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    root_process_instance_key: KeyFilter
    process_instance_key: KeyFilter
    element_instance_key: KeyFilter
    element_id: TextFilter
    element_type: (
        Literal[
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
        | Sequence[str]
        | Where
    )
    tenant_id: TextFilter
    wait_state_type: Literal["CONDITION", "JOB", "MESSAGE", "SIGNAL", "TIMER", "USER_TASK"] | Sequence[str] | Where


WaitStateSort = Literal["root_process_instance_key", "process_instance_key", "element_instance_key", "element_id"]
