"""Jobs that can be searched."""

from __future__ import annotations

from vivero.storage.search import implied
from vivero.storage.search.fields import (
    FLAG,
    KEY,
    NUMBER,
    OTHER,
    SORTED_PREFIX,
    TEXT,
    TIME,
    Field,
    enumeration,
    filtered,
    plain,
)
from vivero.storage.search.resources import Resource

JOB_STATES = (
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
)
JOB_KINDS = ("BPMN_ELEMENT", "EXECUTION_LISTENER", "TASK_LISTENER", "AD_HOC_SUB_PROCESS")
LISTENER_EVENTS = (
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
)


_TIMED_OUT = (
    "j.ended_at IS NULL AND NOT j.ready AND j.lease_token IS NOT NULL AND j.available_at <= (SELECT clock_now())"
)
"""The clock is read once: PostgreSQL calls a function for each row."""
_REPAIRED = "j.state = 'FAILED' AND NOT j.ready AND j.available_at IS NULL AND j.retries > 0"
"""A failed job that got retries again, and whose incident is not resolved yet."""
_JOB_STATE = f"CASE WHEN {_TIMED_OUT} THEN 'TIMED_OUT' WHEN {_REPAIRED} THEN 'RETRIES_UPDATED' ELSE j.state END"
"""The engine's state, and two states that follow from the lease, which is not a part of the engine's state."""

_IN_TIME = f"j.ended_at IS NULL AND ({_TIMED_OUT}) IS NOT TRUE"
_LIVE_JOBS = {
    "CREATED": f"j.state = 'CREATED' AND {_IN_TIME}",
    "FAILED": f"j.state = 'FAILED' AND {_IN_TIME} AND ({_REPAIRED}) IS NOT TRUE",
    "RETRIES_UPDATED": f"{_REPAIRED} AND {_IN_TIME}",
    "TIMED_OUT": _TIMED_OUT,
}
"""The same states, as conditions that PostgreSQL can estimate. These jobs have not ended: a partial index has them."""

_UNTIL = "date_trunc('milliseconds', j.available_at)"
"""Rounded as in the API: a filter by a displayed value finds the job. Leases may end between two milliseconds."""

_IS_DENIED = "CASE WHEN j.kind = 'TASK_LISTENER' AND j.state = 'COMPLETED' THEN j.denied_reason IS NOT NULL END"
"""Only task listeners that are done have agreed or denied."""

JOBS = Resource(
    "Job",
    "jobs j",
    "j.job_key",
    (
        Field("customHeaders", "j.headers", OTHER),
        filtered(
            "deadline",
            f"CASE WHEN j.lease_token IS NOT NULL THEN {_UNTIL} END",
            TIME,
            sort=True,
            given="j.lease_token IS NOT NULL AND j.available_at IS NOT NULL",
        ),
        filtered(
            "deniedReason", "j.denied_reason", TEXT, sort=True, sort_sql=f"left(j.denied_reason, {SORTED_PREFIX})"
        ),
        filtered("elementId", "j.element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "j.element_instance_key", KEY, sort=True, implied=implied.by_element_key("j")),
        filtered("endTime", "j.ended_at", TIME, sort=True),
        filtered("errorCode", "j.error_code", TEXT, sort=True, sort_sql=f"left(j.error_code, {SORTED_PREFIX})"),
        filtered(
            "errorMessage", "j.error_message", TEXT, sort=True, sort_sql=f"left(j.error_message, {SORTED_PREFIX})"
        ),
        plain("hasFailedWithRetriesLeft", f"({_JOB_STATE} = 'FAILED' AND j.retries > 0)", FLAG, sort=True),
        plain("isDenied", _IS_DENIED, FLAG, sort=True),
        filtered("jobKey", "j.job_key", KEY, sort=True),
        enumeration("kind", "j.kind", JOB_KINDS, sort=True),
        enumeration("listenerEventType", "j.listener_event", LISTENER_EVENTS, sort=True),
        filtered("processDefinitionId", "j.process_id", TEXT, sort=True, implied=implied.by_process_id("j")),
        filtered(
            "processDefinitionKey", "j.process_definition_key", KEY, sort=True, implied=implied.by_definition_key("j")
        ),
        filtered("processInstanceKey", "j.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "j.root_key", KEY),
        Field("businessId", "j.business_id", TEXT),
        filtered("retries", "j.retries", NUMBER, sort=True),
        enumeration("state", _JOB_STATE, JOB_STATES, sort=True, cases=_LIVE_JOBS),
        filtered("tenantId", "j.tenant_id", TEXT, sort=True),
        filtered("type", "j.type", TEXT, sort=True, sort_sql=f"left(j.type, {SORTED_PREFIX})"),
        filtered("worker", "coalesce(j.worker, '')", TEXT, sort=True),
        filtered("creationTime", "j.created_at", TIME, sort=True),
        filtered("lastUpdateTime", "j.updated_at", TIME),
        filtered("priority", "j.priority", NUMBER, sort=True),
    ),
)
