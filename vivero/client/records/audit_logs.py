"""Records and filters of `client.audit_logs`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    TextFilter,
    TimeFilter,
    Where,
)


class AuditLogRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/audit-logs/search."""

    audit_log_key: str
    entity_key: str
    entity_type: str
    operation_type: str
    batch_operation_key: str | None = None
    batch_operation_type: str | None = None
    timestamp: datetime
    actor_id: str | None = None
    actor_type: str
    agent_element_id: str | None = None
    tenant_id: str | None = None
    result: str
    category: str
    process_definition_id: str | None = None
    process_definition_key: str | None = None
    process_instance_key: str | None = None
    root_process_instance_key: str | None = None
    element_instance_key: str | None = None
    job_key: str | None = None
    user_task_key: str | None = None
    decision_requirements_id: str | None = None
    decision_requirements_key: str | None = None
    decision_definition_id: str | None = None
    decision_definition_key: str | None = None
    decision_evaluation_key: str | None = None
    deployment_key: str | None = None
    form_key: str | None = None
    resource_key: str | None = None
    related_entity_key: str | None = None
    related_entity_type: str | None = None
    entity_description: str | None = None
    inbound_channel_type: str | None = None
    inbound_channel_tool_name: str | None = None
    actor_address: str | None = None
    actor_provider: str | None = None
    command_position: str | None = None


class AuditLogFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    audit_log_key: KeyFilter
    entity_key: TextFilter
    entity_type: (
        Literal[
            "AUTHORIZATION",
            "BATCH",
            "CLIENT",
            "DECISION",
            "GROUP",
            "INCIDENT",
            "JOB",
            "MAPPING_RULE",
            "PROCESS_INSTANCE",
            "RESOURCE",
            "ROLE",
            "TENANT",
            "USER",
            "USER_TASK",
            "VARIABLE",
        ]
        | Sequence[str]
        | Where
    )
    operation_type: (
        Literal[
            "ASSIGN",
            "CANCEL",
            "COMPLETE",
            "CREATE",
            "DELETE",
            "EVALUATE",
            "MIGRATE",
            "MODIFY",
            "RESOLVE",
            "RESUME",
            "SUSPEND",
            "UNASSIGN",
            "UNKNOWN",
            "UPDATE",
        ]
        | Sequence[str]
        | Where
    )
    batch_operation_key: KeyFilter
    batch_operation_type: (
        Literal[
            "ADD_VARIABLE",
            "CANCEL_PROCESS_INSTANCE",
            "DELETE_DECISION_DEFINITION",
            "DELETE_DECISION_INSTANCE",
            "DELETE_PROCESS_DEFINITION",
            "DELETE_PROCESS_INSTANCE",
            "MIGRATE_PROCESS_INSTANCE",
            "MODIFY_PROCESS_INSTANCE",
            "RESOLVE_INCIDENT",
            "RESUME_PROCESS_INSTANCE",
            "SUSPEND_PROCESS_INSTANCE",
            "UPDATE_JOB",
            "UPDATE_VARIABLE",
        ]
        | Sequence[str]
        | Where
    )
    timestamp: TimeFilter
    actor_id: TextFilter
    actor_type: Literal["ANONYMOUS", "CLIENT", "UNKNOWN", "USER"] | Sequence[str] | Where
    agent_element_id: TextFilter
    tenant_id: TextFilter
    result: Literal["FAIL", "SUCCESS"] | Sequence[str] | Where
    category: Literal["ADMIN", "DEPLOYED_RESOURCES", "USER_TASKS"] | Sequence[str] | Where
    process: TextFilter
    process_definition_key: KeyFilter
    process_instance_key: KeyFilter
    element_instance_key: KeyFilter
    job_key: KeyFilter
    user_task_key: KeyFilter
    decision_requirements_id: TextFilter
    decision_requirements_key: KeyFilter
    decision_definition_id: TextFilter
    decision_definition_key: KeyFilter
    decision_evaluation_key: KeyFilter
    deployment_key: KeyFilter
    form_key: KeyFilter
    resource_key: KeyFilter
    related_entity_key: TextFilter
    related_entity_type: (
        Literal[
            "AUTHORIZATION",
            "BATCH",
            "CLIENT",
            "DECISION",
            "GROUP",
            "INCIDENT",
            "JOB",
            "MAPPING_RULE",
            "PROCESS_INSTANCE",
            "RESOURCE",
            "ROLE",
            "TENANT",
            "USER",
            "USER_TASK",
            "VARIABLE",
        ]
        | Sequence[str]
        | Where
    )
    entity_description: TextFilter
    inbound_channel_type: TextFilter
    inbound_channel_tool_name: TextFilter


AuditLogSort = Literal[
    "audit_log_key",
    "entity_key",
    "entity_type",
    "operation_type",
    "batch_operation_key",
    "batch_operation_type",
    "timestamp",
    "actor_id",
    "actor_type",
    "tenant_id",
    "result",
    "category",
    "process_definition_id",
    "process_definition_key",
    "process_instance_key",
    "element_instance_key",
    "job_key",
    "user_task_key",
    "decision_requirements_id",
    "decision_requirements_key",
    "decision_definition_id",
    "decision_definition_key",
    "decision_evaluation_key",
    "inbound_channel_type",
    "inbound_channel_tool_name",
]
