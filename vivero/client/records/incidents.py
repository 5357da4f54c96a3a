"""Records and filters of `client.incidents`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    NumberFilter,
    TextFilter,
    TimeFilter,
    Where,
)


class IncidentRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/incidents/search."""

    process_definition_id: str
    error_type: str
    error_message: str
    cause_hash_code: int
    element_id: str
    creation_time: datetime
    state: str
    tenant_id: str
    incident_key: str
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str
    element_instance_key: str
    job_key: str | None = None


class IncidentFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    process: TextFilter
    error_type: (
        Literal[
            "AD_HOC_SUB_PROCESS_NO_RETRIES",
            "CALLED_DECISION_ERROR",
            "CALLED_ELEMENT_ERROR",
            "CONDITION_ERROR",
            "DECISION_EVALUATION_ERROR",
            "EXECUTION_LISTENER_NO_RETRIES",
            "EXTRACT_VALUE_ERROR",
            "FORM_NOT_FOUND",
            "IO_MAPPING_ERROR",
            "JOB_NO_RETRIES",
            "MESSAGE_SIZE_EXCEEDED",
            "RESOURCE_NOT_FOUND",
            "SECRET_RESOLUTION_ERROR",
            "TASK_LISTENER_NO_RETRIES",
            "UNHANDLED_ERROR_EVENT",
            "UNKNOWN",
            "UNSPECIFIED",
        ]
        | Sequence[str]
        | Where
    )
    error_message: TextFilter
    cause_hash_code: NumberFilter
    element_id: TextFilter
    creation_time: TimeFilter
    state: Literal["ACTIVE", "MIGRATED", "PENDING", "RESOLVED", "UNKNOWN"] | Sequence[str] | Where
    tenant_id: TextFilter
    incident_key: KeyFilter
    process_definition_key: KeyFilter
    process_instance_key: KeyFilter
    element_instance_key: KeyFilter
    job_key: KeyFilter


IncidentSort = Literal[
    "process_definition_id",
    "error_type",
    "element_id",
    "creation_time",
    "state",
    "tenant_id",
    "incident_key",
    "process_definition_key",
    "process_instance_key",
    "element_instance_key",
    "job_key",
]
