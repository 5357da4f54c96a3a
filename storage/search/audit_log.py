"""The records of the audit log that can be searched: all, or those of a user task."""

from __future__ import annotations

from functools import partial

from vivero.storage.access.audit_log import CATEGORIES, FAIL, SUCCESS
from vivero.storage.search.fields import ENUM, KEY, TEXT, TEXT_KEY, TIME, Field, filtered
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource

ACTOR_TYPES = ("ANONYMOUS", "CLIENT", "UNKNOWN", "USER")
ENTITY_TYPES = (
    *("AUTHORIZATION", "BATCH", "CLIENT", "DECISION", "GROUP", "INCIDENT", "JOB", "MAPPING_RULE", "PROCESS_INSTANCE"),
    *("RESOURCE", "ROLE", "TENANT", "USER", "USER_TASK", "VARIABLE"),
)
OPERATIONS = (
    *("ASSIGN", "CANCEL", "COMPLETE", "CREATE", "DELETE", "EVALUATE", "MIGRATE", "MODIFY", "RESOLVE", "RESUME"),
    *("SUSPEND", "UNASSIGN", "UNKNOWN", "UPDATE"),
)
BATCH_OPERATIONS = (
    *("ADD_VARIABLE", "CANCEL_PROCESS_INSTANCE", "DELETE_DECISION_DEFINITION", "DELETE_DECISION_INSTANCE"),
    *("DELETE_PROCESS_DEFINITION", "DELETE_PROCESS_INSTANCE", "MIGRATE_PROCESS_INSTANCE", "MODIFY_PROCESS_INSTANCE"),
    *("RESOLVE_INCIDENT", "RESUME_PROCESS_INSTANCE", "SUSPEND_PROCESS_INSTANCE", "UPDATE_JOB", "UPDATE_VARIABLE"),
)

_sorted = partial(filtered, sort=True)
_NO_TEXT, _NO_KEY = "NULL::text", "NULL::bigint"


def _of_user_task(key: int, _path: str, parameters: Parameters) -> str:
    return f"a.user_task_key = {parameters.add(key, 'bigint')}"


AUDIT_LOG = Resource(
    "Audit Log",
    "audit_log a",
    "a.audit_log_key",
    (
        _sorted("auditLogKey", "a.audit_log_key", KEY),
        _sorted("entityKey", "a.entity_key", TEXT),
        _sorted("entityType", "a.entity_type", ENUM, values=ENTITY_TYPES),
        _sorted("operationType", "a.operation", ENUM, values=OPERATIONS),
        _sorted("batchOperationKey", "a.batch_operation_key", TEXT_KEY),
        _sorted("batchOperationType", "a.batch_operation_type", ENUM, values=BATCH_OPERATIONS),
        _sorted("timestamp", "a.at", TIME),
        _sorted("actorId", "a.actor_id", TEXT),
        _sorted("actorType", "a.actor_type", ENUM, values=ACTOR_TYPES),
        filtered("agentElementId", _NO_TEXT, TEXT),
        _sorted("tenantId", "a.tenant_id", TEXT),
        _sorted("result", "a.result", ENUM, values=(FAIL, SUCCESS)),
        _sorted("category", "a.category", ENUM, values=CATEGORIES),
        _sorted("processDefinitionId", "a.process_id", TEXT),
        _sorted("processDefinitionKey", "a.process_definition_key", KEY),
        _sorted("processInstanceKey", "a.process_instance_key", KEY),
        Field("rootProcessInstanceKey", "a.root_key", KEY),
        _sorted("elementInstanceKey", "a.element_instance_key", KEY),
        _sorted("jobKey", "a.job_key", KEY),
        _sorted("userTaskKey", "a.user_task_key", TEXT_KEY),
        filtered("decisionRequirementsId", _NO_TEXT, TEXT, sort=True),
        filtered("decisionRequirementsKey", _NO_KEY, KEY, sort=True),
        filtered("decisionDefinitionId", _NO_TEXT, TEXT, sort=True),
        filtered("decisionDefinitionKey", _NO_KEY, KEY, sort=True),
        filtered("decisionEvaluationKey", _NO_KEY, KEY, sort=True),
        filtered("deploymentKey", "a.deployment_key", KEY),
        filtered("formKey", _NO_KEY, KEY),
        filtered("resourceKey", "a.resource_key", KEY),
        filtered("relatedEntityKey", "a.related_key", TEXT),
        filtered("relatedEntityType", "a.related_type", ENUM, values=ENTITY_TYPES),
        filtered("entityDescription", "a.description", TEXT),
        _sorted("inboundChannelType", "CASE WHEN a.tool IS NOT NULL THEN 'MCP' END", TEXT),
        _sorted("inboundChannelToolName", "a.tool", TEXT),
        Field("actorAddress", "a.address", TEXT),
        Field("actorProvider", "a.actor_provider", TEXT),
        Field("commandPosition", "a.position", KEY),
    ),
    within={"user task": _of_user_task},
)
"""Fields of the API for things that Vivero does not have yet (decisions, agents) are null."""

OF_USER_TASK = Resource(
    AUDIT_LOG.name,
    AUDIT_LOG.source,
    AUDIT_LOG.key,
    tuple(
        each if each.name in ("operationType", "result", "timestamp", "actorType", "actorId")
        else Field(each.name, each.sql, each.type, sort=each.sort, values=each.values)
        for each in AUDIT_LOG.fields
    ),
    within=AUDIT_LOG.within,
)  # fmt: skip
"""The records of the user task that is the condition `user task`, with fewer filters."""
