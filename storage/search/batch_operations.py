"""Batch operations and their items that can be searched."""

from __future__ import annotations

from functools import partial

from vivero.storage.search.audit_log import ACTOR_TYPES, BATCH_OPERATIONS
from vivero.storage.search.fields import ENUM, KEY, NUMBER, OTHER, TEXT, TEXT_KEY, TIME, Field, filtered
from vivero.storage.search.resources import Resource

STATES = ("ACTIVE", "CANCELED", "COMPLETED", "CREATED", "FAILED", "PARTIALLY_COMPLETED", "SUSPENDED")
ITEM_STATES = ("ACTIVE", "CANCELED", "COMPLETED", "FAILED", "SKIPPED")

_sorted = partial(filtered, sort=True)
_ACTOR_TYPE = "CASE b.actor_kind WHEN 'TOKEN' THEN 'CLIENT' ELSE b.actor_kind END"
_ERRORS = (
    "CASE WHEN b.error IS NULL THEN json_build_array()"
    " ELSE json_build_array(json_build_object('partitionId', 1, 'type', 'QUERY_FAILED', 'message', b.error)) END"
)

BATCHES = Resource(
    "Batch Operation",
    "batch_operations b",
    "b.batch_operation_key",
    (
        _sorted("batchOperationKey", "b.batch_operation_key", TEXT_KEY),
        _sorted("state", "b.state", ENUM, values=STATES),
        Field("batchOperationType", "b.type", TEXT),
        _sorted("operationType", "b.type", ENUM, values=BATCH_OPERATIONS, shown=False),
        _sorted("startDate", "b.started_at", TIME),
        _sorted("endDate", "b.ended_at", TIME),
        _sorted("actorType", _ACTOR_TYPE, ENUM, values=ACTOR_TYPES),
        _sorted("actorId", "b.actor_id", TEXT),
        filtered("tenantId", "CASE WHEN cardinality(b.tenants) = 1 THEN b.tenants[1] END", TEXT),
        Field("operationsTotalCount", "b.total", NUMBER),
        Field("operationsCompletedCount", "b.completed", NUMBER),
        Field("operationsFailedCount", "b.failed", NUMBER),
        Field("operationsSkippedCount", "b.skipped", NUMBER),
        Field("operationsCanceledCount", "b.canceled", NUMBER),
        Field("errors", _ERRORS, OTHER),
    ),
    tenants_sql="b.tenants",
)
"""Camunda's API has neither `tenantId` nor the counts of skipped and canceled items."""

ITEMS = Resource(
    "Batch Operation Item",
    "batch_operation_items i",
    "i.item_number",
    (
        filtered("operationType", "i.type", ENUM, values=BATCH_OPERATIONS),
        _sorted("batchOperationKey", "i.batch_operation_key", TEXT_KEY),
        _sorted("itemKey", "i.item_key", TEXT_KEY),
        _sorted("processInstanceKey", "i.process_instance_key", KEY),
        Field("rootProcessInstanceKey", "i.root_key", KEY),
        _sorted("state", "i.state", ENUM, values=ITEM_STATES),
        _sorted("processedDate", "i.processed_at", TIME),
        Field("errorMessage", "i.error", TEXT),
        filtered("tenantId", "i.tenant_id", TEXT),
    ),
)
