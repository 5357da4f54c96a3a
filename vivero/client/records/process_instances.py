"""Records and filters of `client.instances`. `make statements` writes them from the table of the API."""

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
    VariablesFilter,
    Where,
)


class ProcessInstanceRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/process-instances/search."""

    process_definition_id: str
    process_definition_name: str | None = None
    process_definition_version: int
    process_definition_version_tag: str | None = None
    start_date: datetime
    end_date: datetime | None = None
    state: str
    suspended_date: datetime | None = None
    suspension_reason: str | None = None
    has_incident: bool
    due_date: datetime | None = None
    late_date: datetime | None = None
    tenant_id: str
    process_instance_key: str
    process_definition_key: str
    parent_process_instance_key: str | None = None
    parent_element_instance_key: str | None = None
    root_process_instance_key: str
    tags: list[str]
    business_id: str | None = None


class ProcessInstanceFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    process: TextFilter
    process_definition_name: TextFilter
    process_definition_version: NumberFilter
    process_definition_version_tag: TextFilter
    start_date: TimeFilter
    end_date: TimeFilter
    state: Literal["ACTIVE", "COMPLETED", "SUSPENDED", "TERMINATED"] | Sequence[str] | Where
    suspended_date: TimeFilter
    has_incident: bool
    tenant_id: TextFilter
    process_instance_key: KeyFilter
    process_definition_key: KeyFilter
    parent_process_instance_key: KeyFilter
    parent_element_instance_key: KeyFilter
    business_id: TextFilter
    element_instance_state: Literal["ACTIVE", "COMPLETED", "TERMINATED"] | Sequence[str] | Where
    element_id: TextFilter
    has_element_instance_incident: bool
    batch_operation_key: KeyFilter
    batch_operation_id: KeyFilter
    error_message: TextFilter
    incident_error_hash_code: NumberFilter
    incident_cause_hash_code: NumberFilter
    variables: VariablesFilter
    tags: Sequence[str]
    has_retries_left: bool
    is_late: bool
    any_of: Sequence[ProcessInstanceFilter]


ProcessInstanceSort = Literal[
    "process_definition_id",
    "process_definition_name",
    "process_definition_version",
    "process_definition_version_tag",
    "start_date",
    "end_date",
    "state",
    "suspended_date",
    "has_incident",
    "tenant_id",
    "process_instance_key",
    "process_definition_key",
    "parent_process_instance_key",
    "parent_element_instance_key",
    "business_id",
]
