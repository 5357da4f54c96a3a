"""Timers that can be searched."""

from __future__ import annotations

from vivero.storage.search import implied
from vivero.storage.search.fields import KEY, NUMBER, TEXT, TIME, Field, enumeration, filtered
from vivero.storage.search.resources import Resource

TIMER_TYPES = ("BOUNDARY", "EVENT_SUB_PROCESS", "INTERMEDIATE", "START_EVENT")
TIMER_STATES = ("CANCELED", "FAILED", "PENDING", "TRIGGERED")


TIMERS = Resource(
    "Timer",
    "timers t",
    "t.timer_key",
    (
        filtered("timerKey", "t.timer_key", KEY, sort=True),
        enumeration("type", "t.type", TIMER_TYPES, sort=True),
        enumeration("state", "t.state", TIMER_STATES, sort=True, cases={"PENDING": "t.state = 'PENDING'"}),
        filtered("dueDate", "from_epoch_ms(t.due_at_ms)", TIME, sort=True),
        filtered("repetitions", "t.repetitions", NUMBER, sort=True),
        filtered("elementId", "t.target_element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "t.element_instance_key", KEY, sort=True, implied=implied.by_element_key("t")),
        filtered("processDefinitionId", "t.process_id", TEXT, sort=True),
        filtered("processDefinitionKey", "t.process_definition_key", KEY, sort=True),
        filtered("processInstanceKey", "t.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "t.root_key", KEY),
        filtered("tenantId", "t.tenant_id", TEXT, sort=True),
        filtered("creationTime", "t.created_at", TIME, sort=True),
        filtered("triggerTime", "t.triggered_at", TIME, sort=True),
        filtered("endTime", "t.ended_at", TIME, sort=True),
    ),
)
