"""Records and filters of `client.batch_operation_items`. `make statements` writes them from the table of the API."""

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


class BatchOperationItemRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/batch-operation-items/search."""

    operation_type: str
    batch_operation_key: str
    item_key: str
    process_instance_key: str | None = None
    root_process_instance_key: str | None = None
    state: str
    processed_date: datetime | None = None
    error_message: str | None = None
    tenant_id: str


class BatchOperationItemFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

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
    batch_operation_key: KeyFilter
    item_key: KeyFilter
    process_instance_key: KeyFilter
    state: Literal["ACTIVE", "CANCELED", "COMPLETED", "FAILED", "SKIPPED"] | Sequence[str] | Where
    processed_date: TimeFilter
    tenant_id: TextFilter


BatchOperationItemSort = Literal["batch_operation_key", "item_key", "process_instance_key", "state", "processed_date"]
