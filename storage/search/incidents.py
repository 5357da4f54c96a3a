"""Incidents that can be searched: all, or those of an instance and of the instances that it called."""

from __future__ import annotations

from functools import partial

from vivero.storage.search import implied
from vivero.storage.search.fields import ENUM, KEY, NUMBER, TEXT, TEXT_KEY, TIME, Field, filtered
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource

INCIDENT_STATES = ("ACTIVE", "MIGRATED", "PENDING", "RESOLVED", "UNKNOWN")
ERROR_TYPES = (
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
)

_sorted = partial(filtered, sort=True)


_CALLED = """
    WITH RECURSIVE called AS (
        {first}
        UNION ALL
        SELECT p.process_instance_key
        FROM called JOIN process_instances p ON p.parent_process_instance_key = called.process_instance_key
    )
    SELECT process_instance_key FROM called
"""
"""Process instances, and the process instances that they called, at any depth."""

_CALLED_WITHIN = """
    SELECT p.process_instance_key
    FROM process_instances p JOIN element_instances e ON e.element_instance_key = p.parent_element_instance_key
    WHERE p.parent_process_instance_key = (SELECT process_instance_key FROM element_instances
        WHERE element_instance_key = {key}) AND {key} = ANY (e.path)
"""
"""The process instances that an element instance, or one within it, called."""

_WITHIN = """
    i.process_instance_key = (SELECT process_instance_key FROM element_instances WHERE element_instance_key = {key})
    AND EXISTS (SELECT FROM element_instances e
        WHERE e.element_instance_key = i.element_instance_key AND {key} = ANY (e.path))
"""
"""The incidents of an element instance, and of those within it."""


def _of_tree(key: int, _path: str, parameters: Parameters) -> str:
    return f"i.root_key = {parameters.add(key, 'bigint')}"


def _of_called(key: int, _path: str, parameters: Parameters) -> str:
    called = _CALLED.format(first=f"SELECT {parameters.add(key, 'bigint')} AS process_instance_key")
    return f"i.process_instance_key = ANY (ARRAY({called}))"


def _of_element(key: int, _path: str, parameters: Parameters) -> str:
    place = parameters.add(key, "bigint")
    called = _CALLED.format(first=_CALLED_WITHIN.format(key=place))
    return f"{_WITHIN.format(key=place)} OR i.process_instance_key = ANY (ARRAY({called}))"


INCIDENTS = Resource(
    "Incident",
    "incidents i",
    "i.incident_key",
    (
        _sorted("processDefinitionId", "i.process_id", TEXT, implied=implied.by_process_id("i")),
        _sorted("errorType", "i.type", ENUM, values=ERROR_TYPES),
        filtered("errorMessage", "i.message", TEXT),
        filtered("causeHashCode", "i.cause", NUMBER),
        _sorted("elementId", "i.element_id", TEXT),
        _sorted("creationTime", "i.created_at", TIME, orders=True),
        _sorted("state", "i.state", ENUM, values=INCIDENT_STATES, cases={"ACTIVE": "i.resolved_at IS NULL"}),
        _sorted("tenantId", "i.tenant_id", TEXT),
        _sorted("incidentKey", "i.incident_key", TEXT_KEY),
        _sorted("processDefinitionKey", "i.process_definition_key", KEY, implied=implied.by_definition_key("i")),
        _sorted("processInstanceKey", "i.process_instance_key", KEY),
        Field("rootProcessInstanceKey", "i.root_key", KEY),
        _sorted("elementInstanceKey", "i.element_instance_key", KEY, implied=implied.by_element_key("i")),
        _sorted("jobKey", "i.job_key", KEY, implied=implied.by_row("i", "jobs", "job_key")),
    ),
    within={"root": _of_tree, "process instance": _of_called, "element instance": _of_element},
)
