"""Wait states that can be searched: each job, user task, timer and subscription for which an element instance waits.

An element instance with several has several wait states. Each table has an index on the process instance.
"""

from __future__ import annotations

from vivero.storage.search import implied
from vivero.storage.search.element_instances import ELEMENT_TYPES, element_type
from vivero.storage.search.fields import KEY, OTHER, TEXT, TIME, Field, enumeration, filtered
from vivero.storage.search.resources import Resource

_COLUMNS = "root_key, process_instance_key, element_instance_key, tenant_id, process_id"
_DUE = TIME.shown.format("due_at")


def _waits(table: str, key: str, type: str, details: str, where: str = "true") -> str:
    """The open rows of a table as wait states."""
    shown = f"'{type}' AS type, json_build_object('waitStateType', '{type}', {details}) AS details"
    return f"SELECT {key} AS key, {_COLUMNS}, {shown} FROM {table} WHERE ended_at IS NULL AND {where}"


_JOB = (
    "'jobKey', job_key::text, 'jobType', type, 'jobKind', kind,"
    " 'listenerEventType', nullif(listener_event, 'UNSPECIFIED'), 'retries', retries"
)
_CONDITION = "'processDefinitionKey', process_definition_key::text, 'elementId', target_element_id"
"""The place of the condition, which is in the model."""
_ALL = (
    _waits("jobs", "job_key", "JOB", _JOB),
    _waits("user_tasks", "user_task_key", "USER_TASK", f"'taskKey', user_task_key::text, 'dueDate', {_DUE}"),
    _waits("timers", "timer_key", "TIMER", "'dueDate', due_at_ms, 'repetitions', repetitions"),
    _waits(
        "subscriptions",
        "subscription_key",
        "MESSAGE",
        "'messageName', name, 'correlationKey', correlation_key",
        "kind = 'MESSAGE'",
    ),
    _waits("subscriptions", "subscription_key", "SIGNAL", "'signalName', name", "kind = 'SIGNAL'"),
    _waits("subscriptions", "subscription_key", "CONDITION", _CONDITION, "kind = 'CONDITION'"),
)
WAIT_STATE_TYPES = ("CONDITION", "JOB", "MESSAGE", "SIGNAL", "TIMER", "USER_TASK")

WAIT_STATES = Resource(
    "Wait State",
    f"({' UNION ALL '.join(_ALL)}) w JOIN element_instances e ON e.element_instance_key = w.element_instance_key",
    "w.key",
    (
        filtered("rootProcessInstanceKey", "w.root_key", KEY, sort=True),
        filtered("processInstanceKey", "w.process_instance_key", KEY, sort=True),
        filtered("elementInstanceKey", "w.element_instance_key", KEY, sort=True, implied=implied.by_element_key("w")),
        filtered("elementId", "e.element_id", TEXT, sort=True),
        enumeration("elementType", element_type("e"), ELEMENT_TYPES),
        filtered("tenantId", "w.tenant_id", TEXT),
        Field("bpmnProcessId", "w.process_id", TEXT),
        enumeration("waitStateType", "w.type", WAIT_STATE_TYPES, shown=False),
        Field("details", "w.details", OTHER),
    ),
    process_sql="w.process_id",
)
