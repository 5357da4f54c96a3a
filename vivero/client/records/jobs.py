"""Records and filters of `client.jobs`. `make statements` writes them from the table of the API."""

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


class JobRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/jobs/search."""

    custom_headers: Any
    deadline: datetime | None = None
    denied_reason: str | None = None
    element_id: str
    element_instance_key: str
    end_time: datetime | None = None
    error_code: str | None = None
    error_message: str | None = None
    has_failed_with_retries_left: bool
    is_denied: bool | None = None
    job_key: str
    kind: str
    listener_event_type: str
    process_definition_id: str
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str
    business_id: str | None = None
    retries: int
    state: str
    tenant_id: str
    type: str
    worker: str
    creation_time: datetime
    last_update_time: datetime
    priority: int


class JobFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    deadline: TimeFilter
    denied_reason: TextFilter
    element_id: TextFilter
    element_instance_key: KeyFilter
    end_time: TimeFilter
    error_code: TextFilter
    error_message: TextFilter
    has_failed_with_retries_left: bool
    is_denied: bool
    job_key: KeyFilter
    kind: Literal["BPMN_ELEMENT", "EXECUTION_LISTENER", "TASK_LISTENER", "AD_HOC_SUB_PROCESS"] | Sequence[str] | Where
    listener_event_type: (
        Literal[
            "ASSIGNING",
            "BEFORE_ALL",
            "CANCEL",
            "CANCELING",
            "COMPLETING",
            "CREATING",
            "END",
            "START",
            "UNSPECIFIED",
            "UPDATING",
        ]
        | Sequence[str]
        | Where
    )
    process: TextFilter
    process_definition_key: KeyFilter
    process_instance_key: KeyFilter
    retries: NumberFilter
    state: (
        Literal[
            "CANCELED",
            "COMPLETED",
            "CREATED",
            "ERROR_THROWN",
            "FAILED",
            "MIGRATED",
            "PRIORITY_UPDATED",
            "RETRIES_UPDATED",
            "TIMEOUT_UPDATED",
            "TIMED_OUT",
        ]
        | Sequence[str]
        | Where
    )
    tenant_id: TextFilter
    type: TextFilter
    worker: TextFilter
    creation_time: TimeFilter
    last_update_time: TimeFilter
    priority: NumberFilter


JobSort = Literal[
    "deadline",
    "denied_reason",
    "element_id",
    "element_instance_key",
    "end_time",
    "error_code",
    "error_message",
    "has_failed_with_retries_left",
    "is_denied",
    "job_key",
    "kind",
    "listener_event_type",
    "process_definition_id",
    "process_definition_key",
    "process_instance_key",
    "retries",
    "state",
    "tenant_id",
    "type",
    "worker",
    "creation_time",
    "priority",
]
