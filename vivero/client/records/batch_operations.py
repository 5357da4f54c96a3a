"""Records and filters of `client.batch_operations`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    TextFilter,
    TimeFilter,
    Where,
)


class BatchOperationRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/batch-operations/search."""

    batch_operation_key: str
    state: str
    batch_operation_type: str
    start_date: datetime | None = None
    end_date: datetime | None = None
    actor_type: str | None = None
    actor_id: str
    tenant_id: str | None = None
    operations_total_count: int
    operations_completed_count: int
    operations_failed_count: int
    operations_skipped_count: int
    operations_canceled_count: int
    errors: Any = None


class BatchOperationFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    batch_operation_key: KeyFilter
    state: (
        Literal["ACTIVE", "CANCELED", "COMPLETED", "CREATED", "FAILED", "PARTIALLY_COMPLETED", "SUSPENDED"]
        | Sequence[str]
        | Where
    )
    operation_type: (
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
    start_date: TimeFilter
    end_date: TimeFilter
    actor_type: Literal["ANONYMOUS", "CLIENT", "UNKNOWN", "USER"] | Sequence[str] | Where
    actor_id: TextFilter
    tenant_id: TextFilter


BatchOperationSort = Literal[
    "batch_operation_key", "state", "operation_type", "start_date", "end_date", "actor_type", "actor_id"
]
