"""The resources of the REST API that can be read and searched: their fields, in the API's words, over our tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vivero.storage.search import implied
from vivero.storage.search.fields import (
    ENUM,
    FLAG,
    KEY,
    NUMBER,
    OTHER,
    PLAIN,
    TEXT,
    TIME,
    Field,
    Invalid,
    Parameters,
    Type,
    Unparsable,
    condition,
    filtered,
)
from vivero.storage.search.statements import Nested, Resource, Special

PREVIEW = 8191
"""Characters of a variable's value in a search that truncates."""
MAX_TAGS = 100
MAX_VARIABLES = 100
MAX_JOINED = 5
"""Variables of a filter that PostgreSQL may join with the instances, in whatever order; the time in which it plans a
join grows with the square of the tables. Any more are looked up in those that are found."""
SORTED_PREFIX = 1000

INSTANCE_STATES = ("ACTIVE", "COMPLETED", "SUSPENDED", "TERMINATED")
ELEMENT_STATES = ("ACTIVE", "COMPLETED", "TERMINATED")
DEFINITION_STATES = ("ACTIVE", "DRAINING", "DELETED")
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
TIMER_TYPES = ("BOUNDARY", "EVENT_SUB_PROCESS", "INTERMEDIATE", "START_EVENT")
TIMER_STATES = ("CANCELED", "FAILED", "PENDING", "TRIGGERED")
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
ELEMENT_TYPES = (
    "UNSPECIFIED",
    "PROCESS",
    "SUB_PROCESS",
    "EVENT_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS",
    "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
    "START_EVENT",
    "INTERMEDIATE_CATCH_EVENT",
    "INTERMEDIATE_THROW_EVENT",
    "BOUNDARY_EVENT",
    "END_EVENT",
    "SERVICE_TASK",
    "RECEIVE_TASK",
    "USER_TASK",
    "MANUAL_TASK",
    "TASK",
    "EXCLUSIVE_GATEWAY",
    "INCLUSIVE_GATEWAY",
    "PARALLEL_GATEWAY",
    "EVENT_BASED_GATEWAY",
    "SEQUENCE_FLOW",
    "MULTI_INSTANCE_BODY",
    "CALL_ACTIVITY",
    "BUSINESS_RULE_TASK",
    "SCRIPT_TASK",
    "SEND_TASK",
    "UNKNOWN",
)


def _plain(name: str, sql: str, type: Type, **more: Any) -> Field:
    """A field that is filtered by a value only."""
    return Field(name, sql, type, PLAIN, **more)


def _enum(name: str, sql: str, values: tuple[str, ...], **more: Any) -> Field:
    return filtered(name, sql, ENUM, values=values, **more)


# -------------------------------------------------------------------------------------------- process definitions


def _latest_version(value: Any, path: str, _parameters: Parameters) -> str:
    if type(value) is not bool:
        raise Unparsable(path)
    newer = (
        "SELECT FROM process_definitions n WHERE n.tenant_id = d.tenant_id AND n.process_id = d.process_id"
        " AND n.version > d.version AND n.state = 'ACTIVE'"
    )
    latest = f"d.state = 'ACTIVE' AND NOT EXISTS ({newer})"
    return latest if value else f"NOT ({latest})"


PROCESS_DEFINITIONS = Resource(
    "Process definition",
    "process_definitions d",
    "d.process_definition_key",
    (
        filtered("name", "d.name", TEXT, sort=True),
        _plain("resourceName", "d.resource_name", TEXT, sort=True),
        _plain("version", "d.version", NUMBER, sort=True),
        _plain("versionTag", "d.version_tag", TEXT, sort=True),
        filtered("processDefinitionId", "d.process_id", TEXT, sort=True),
        _plain("tenantId", "d.tenant_id", TEXT, sort=True),
        _plain("processDefinitionKey", "d.process_definition_key", KEY, sort=True),
        _plain("hasStartForm", "false", FLAG),
        _plain("state", "d.state", ENUM, values=DEFINITION_STATES),
    ),
    visible="d.state <> 'DELETED'",
    special={"isLatestVersion": _latest_version},
)


# ---------------------------------------------------------------------------------------------- process instances

_VALUE = filtered("value", "v.value", TEXT, hashed=True)


def has_variables(where: str) -> Special:
    """Every entry {name, value} must fit a variable of those that `where` lets through; values are JSON text."""

    def has(value: Any, path: str, parameters: Parameters) -> str:
        parts = []
        for i, entry in enumerate(_list_of(value, path, MAX_VARIABLES)):
            at = f"{path}[{i}]"
            if type(entry) is not dict or entry.keys() != {"name", "value"} or type(entry["name"]) is not str:
                raise Unparsable(at)
            name = parameters.add(entry["name"], "text")
            fits = condition(_VALUE, entry["value"], f"{at}.value", parameters)
            alone = "" if i < MAX_JOINED else " OFFSET 0"
            parts.append(f"EXISTS (SELECT FROM variables v WHERE {where} AND v.name = {name} AND ({fits}){alone})")
        return " AND ".join(parts) or "true"

    return has


def has_tags(column: str) -> Special:
    """All of these tags must be in the column."""

    def has(value: Any, path: str, parameters: Parameters) -> str:
        tags = _list_of(value, path, MAX_TAGS)
        if any(type(tag) is not str for tag in tags):
            raise Unparsable(path)
        # The second condition is what the index on tags is restricted to.
        return f"{column} @> {parameters.add(tags, 'text[]')} AND {column} <> '{{}}'" if tags else "true"

    return has


def _has_retries_left(value: Any, path: str, _parameters: Parameters) -> str:
    if type(value) is not bool:
        raise Unparsable(path)
    failed = (
        "EXISTS (SELECT FROM jobs j WHERE j.process_instance_key = p.process_instance_key"
        " AND j.state = 'FAILED' AND j.retries > 0)"
    )
    return failed if value else f"NOT {failed}"


def _not_supported(_value: Any, path: str, _parameters: Parameters) -> str:
    raise Invalid(f"Searching by {path} is not supported")


def _list_of(value: Any, path: str, limit: int) -> list[Any]:
    if type(value) is not list:
        raise Unparsable(path)
    if len(value) > limit:
        raise Invalid(f"The list of {path} has {len(value)} entries but must not have more than {limit}")
    return value


def _element_state(table: str) -> str:
    return f"CASE WHEN {table}.ended_at IS NULL THEN 'ACTIVE' ELSE {table}.state END"


_ELEMENT_CASES = {"ACTIVE": "e.ended_at IS NULL", "TERMINATED": "e.state = 'TERMINATED'"}
"""What an index is restricted to."""

PROCESS_INSTANCES = Resource(
    "Process Instance",
    "process_instances p",
    "p.process_instance_key",
    (
        filtered("processDefinitionId", "p.process_id", TEXT, sort=True),
        filtered("processDefinitionName", "p.process_name", TEXT, sort=True, implied=implied.of_name("p")),
        filtered("processDefinitionVersion", "p.process_version", NUMBER, sort=True),
        filtered(
            "processDefinitionVersionTag",
            "p.version_tag",
            TEXT,
            sort=True,
            implied=implied.of_version_tag("p"),
        ),
        filtered("startDate", "p.started_at", TIME, sort=True),
        filtered("endDate", "p.ended_at", TIME, sort=True),
        _enum(
            "state",
            _element_state("p"),
            INSTANCE_STATES,
            sort=True,
            cases={"ACTIVE": "p.ended_at IS NULL", "SUSPENDED": "false", "TERMINATED": "p.state = 'TERMINATED'"},
        ),
        filtered("suspendedDate", "NULL::timestamptz", TIME, sort=True),
        _plain("hasIncident", "(p.incidents > 0 AND p.ended_at IS NULL)", FLAG, sort=True),
        filtered("tenantId", "p.tenant_id", TEXT, sort=True),
        filtered("processInstanceKey", "p.process_instance_key", KEY, sort=True),
        filtered("processDefinitionKey", "p.process_definition_key", KEY, sort=True),
        filtered("parentProcessInstanceKey", "p.parent_process_instance_key", KEY, sort=True),
        filtered(
            "parentElementInstanceKey",
            "p.parent_element_instance_key",
            KEY,
            sort=True,
            implied=implied.of_parent("p"),
        ),
        Field("rootProcessInstanceKey", "p.root_key", KEY),
        Field("tags", "p.tags", OTHER),
        filtered("businessId", "p.business_id", TEXT, sort=True),
        filtered("batchOperationId", "NULL::text", TEXT, shown=False),
        filtered("batchOperationKey", "NULL::text", TEXT, shown=False),
    ),
    special={
        "variables": has_variables("v.process_instance_key = p.process_instance_key"),
        "tags": has_tags("p.tags"),
        "hasRetriesLeft": _has_retries_left,
        "incidentErrorHashCode": _not_supported,
    },
    nested=(
        Nested(
            "EXISTS (SELECT FROM element_instances e WHERE e.process_instance_key = p.process_instance_key AND {})",
            (
                _enum("elementInstanceState", _element_state("e"), ELEMENT_STATES, cases=_ELEMENT_CASES),
                filtered("elementId", "e.element_id", TEXT),
                _plain("hasElementInstanceIncident", "(e.incidents > 0 AND e.ended_at IS NULL)", FLAG),
            ),
        ),
        Nested(
            "EXISTS (SELECT FROM incidents i WHERE i.process_instance_key = p.process_instance_key"
            " AND i.resolved_at IS NULL AND {})",
            (filtered("errorMessage", "i.message", TEXT),),
        ),
    ),
    alternatives=True,
)

# ---------------------------------------------------------------------------------------------- element instances

_OF_INCIDENT = implied.of_row("e", "incidents", "incident_key")

ELEMENT_INSTANCES = Resource(
    "Element Instance",
    "element_instances e",
    "e.element_instance_key",
    (
        _plain("processDefinitionId", "e.process_id", TEXT, sort=True, implied=implied.of_process("e")),
        filtered("startDate", "e.started_at", TIME, sort=True),
        filtered("endDate", "e.ended_at", TIME, sort=True),
        filtered("elementId", "e.element_id", TEXT, sort=True),
        filtered("elementName", "coalesce(e.element_name, e.element_id)", TEXT, sort=True),
        _plain("type", "e.element_type", ENUM, values=ELEMENT_TYPES, sort=True),
        _enum("state", _element_state("e"), ELEMENT_STATES, sort=True, cases=_ELEMENT_CASES),
        _plain("hasIncident", "(e.incidents > 0 AND e.ended_at IS NULL)", FLAG),
        _plain("tenantId", "e.tenant_id", TEXT, sort=True),
        _plain("elementInstanceKey", "e.element_instance_key", KEY, sort=True),
        _plain("processInstanceKey", "e.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "e.root_key", KEY),
        _plain("processDefinitionKey", "e.process_definition_key", KEY, sort=True, implied=implied.of_definition("e")),
        _plain(
            "incidentKey", "e.incident_key", KEY, sort=True, implied=implied.of_row("e", "incidents", "incident_key")
        ),
        _plain("elementInstanceScopeKey", "e.scope_key", KEY, shown=False, implied=implied.of_element("e")),
    ),
    alternatives=True,
)

# ----------------------------------------------------------------------------------------------------------- jobs

_TIMED_OUT = "j.ended_at IS NULL AND NOT j.ready AND j.lease_token IS NOT NULL AND j.available_at <= clock_now()"
_REPAIRED = "j.state = 'FAILED' AND NOT j.ready AND j.available_at IS NULL AND j.retries > 0"
"""A job that has failed for the last time is given out to nobody, and has no retries until somebody gives it some."""
_JOB_STATE = f"CASE WHEN {_TIMED_OUT} THEN 'TIMED_OUT' WHEN {_REPAIRED} THEN 'RETRIES_UPDATED' ELSE j.state END"
"""What the engine keeps, and what can be seen besides: leases are no part of its state."""

_LIVE_JOBS = {
    state: f"({_JOB_STATE} = '{state}' AND j.ended_at IS NULL)"
    for state in ("CREATED", "FAILED", "RETRIES_UPDATED", "TIMED_OUT")
}
"""Jobs in these states have not ended: there is an index of those."""

_UNTIL = "date_trunc('milliseconds', j.available_at)"
"""As it is shown: who filters by what was shown finds it. Leases alone end between two milliseconds."""

JOBS = Resource(
    "Job",
    "jobs j",
    "j.job_key",
    (
        Field("customHeaders", "j.headers", OTHER),
        filtered("deadline", f"CASE WHEN j.lease_token IS NOT NULL THEN {_UNTIL} END", TIME, sort=True),
        filtered("deniedReason", "NULL::text", TEXT, sort=True),
        filtered("elementId", "j.element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "j.element_instance_key", KEY, sort=True, implied=implied.of_element("j")),
        filtered("endTime", "j.ended_at", TIME, sort=True),
        filtered("errorCode", "j.error_code", TEXT, sort=True, sort_sql=f"left(j.error_code, {SORTED_PREFIX})"),
        filtered(
            "errorMessage", "j.error_message", TEXT, sort=True, sort_sql=f"left(j.error_message, {SORTED_PREFIX})"
        ),
        _plain("hasFailedWithRetriesLeft", f"({_JOB_STATE} = 'FAILED' AND j.retries > 0)", FLAG, sort=True),
        _plain("isDenied", "NULL::boolean", FLAG, sort=True),
        filtered("jobKey", "j.job_key", KEY, sort=True),
        _enum("kind", "j.kind", JOB_KINDS, sort=True),
        _enum("listenerEventType", "j.listener_event", LISTENER_EVENTS, sort=True),
        filtered("processDefinitionId", "j.process_id", TEXT, sort=True, implied=implied.of_process("j")),
        filtered(
            "processDefinitionKey", "j.process_definition_key", KEY, sort=True, implied=implied.of_definition("j")
        ),
        filtered("processInstanceKey", "j.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "j.root_key", KEY),
        Field("businessId", "j.business_id", TEXT),
        filtered("retries", "j.retries", NUMBER, sort=True),
        _enum("state", _JOB_STATE, JOB_STATES, sort=True, cases=_LIVE_JOBS),
        filtered("tenantId", "j.tenant_id", TEXT, sort=True),
        filtered("type", "j.type", TEXT, sort=True, sort_sql=f"left(j.type, {SORTED_PREFIX})"),
        filtered("worker", "coalesce(j.worker, '')", TEXT, sort=True),
        filtered("creationTime", "j.created_at", TIME, sort=True),
        filtered("lastUpdateTime", "j.updated_at", TIME),
        filtered("priority", "j.priority", NUMBER, sort=True),
    ),
)

# --------------------------------------------------------------------------------------------------------- timers

TIMERS = Resource(
    "Timer",
    "timers t",
    "t.timer_key",
    (
        filtered("timerKey", "t.timer_key", KEY, sort=True),
        _enum("type", "t.type", TIMER_TYPES, sort=True),
        _enum("state", "t.state", TIMER_STATES, sort=True, cases={"PENDING": "t.state = 'PENDING'"}),
        filtered("dueDate", "from_epoch_ms(t.due_at_ms)", TIME, sort=True),
        filtered("repetitions", "t.repetitions", NUMBER, sort=True),
        filtered("elementId", "t.target_element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "t.element_instance_key", KEY, sort=True, implied=implied.of_element("t")),
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

# ------------------------------------------------------------------------------------------------------ variables

_VARIABLE_FIELDS = (
    filtered("name", "v.name", TEXT, sort=True),
    _plain("tenantId", "v.tenant_id", TEXT, sort=True),
    filtered("variableKey", "v.variable_key", KEY, sort=True),
    filtered("scopeKey", "v.scope_key", KEY, sort=True),
    filtered("processInstanceKey", "v.process_instance_key", KEY, sort=True),
    Field("rootProcessInstanceKey", "v.root_key", KEY),
    replace(_VALUE, sort=True, sort_sql=f"left(v.value, {SORTED_PREFIX})"),
)


_WHOLE = (*_VARIABLE_FIELDS, _plain("isTruncated", "false", FLAG))
_PREVIEW = (
    *_VARIABLE_FIELDS[:-1],
    replace(_VARIABLE_FIELDS[-1], shown_sql=f"left(v.value, {PREVIEW})"),
    _plain("isTruncated", f"(length(v.value) > {PREVIEW})", FLAG),
)
VARIABLE = Resource("Variable", "variables v", "v.variable_key", _VARIABLE_FIELDS)
"""A variable that is read by itself."""


def variables(source: str, preview: bool, within: Mapping[str, Special] | None = None) -> Resource:
    """Variables, `v` in the FROM clause, that are searched for with whole values, or with their beginnings."""
    return Resource("Variable", source, "v.variable_key", _PREVIEW if preview else _WHOLE, within=within or {})


VARIABLES = variables("variables v", False)
VARIABLE_PREVIEWS = variables("variables v", True)

# -------------------------------------------------------------------------------------------- message subscriptions

SUBSCRIPTION_STATES = ("CORRELATED", "CREATED", "DELETED", "MIGRATED")
SUBSCRIPTION_TYPES = ("PROCESS_EVENT", "START_EVENT")

_NO_TEXT = "NULL::text"

MESSAGE_SUBSCRIPTIONS = Resource(
    "Message subscription",
    "message_subscriptions s",
    "s.subscription_key",
    (
        filtered("messageSubscriptionKey", "s.subscription_key", KEY, sort=True),
        filtered("processDefinitionId", "s.process_id", TEXT, sort=True),
        filtered("processDefinitionKey", "s.process_definition_key", KEY),
        filtered("processDefinitionName", "s.process_name", TEXT, sort=True),
        filtered("processDefinitionVersion", "s.process_version", NUMBER, sort=True),
        filtered("processInstanceKey", "s.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "s.root_key", KEY),
        filtered("elementId", "s.element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "s.element_instance_key", KEY, sort=True, implied=implied.of_element("s")),
        _enum("messageSubscriptionState", "s.state", SUBSCRIPTION_STATES, sort=True),
        _enum("messageSubscriptionType", "s.subscription_type", SUBSCRIPTION_TYPES, sort=True),
        filtered("lastUpdatedDate", "s.updated_at", TIME, sort=True),
        filtered("messageName", "s.name", TEXT, sort=True, sort_sql=f"left(s.name, {SORTED_PREFIX})"),
        filtered(
            "correlationKey", "s.correlation_key", TEXT, sort=True, sort_sql=f"left(s.correlation_key, {SORTED_PREFIX})"
        ),
        filtered("tenantId", "s.tenant_id", TEXT, sort=True),
        filtered("toolName", _NO_TEXT, TEXT, sort=True),
        filtered("inboundConnectorType", _NO_TEXT, TEXT, sort=True),
        filtered("businessId", "s.business_id", TEXT, implied=implied.of_business("s")),
        Field("toolProperties", "'{}'::json", OTHER),
    ),
)

MESSAGE_CORRELATIONS = Resource(
    "Correlated message subscription",
    "message_correlations c",
    "c.message_correlation_key",
    (
        filtered("messageKey", "c.message_key", KEY, sort=True),
        filtered("subscriptionKey", "c.subscription_key", KEY, sort=True),
        filtered("messageName", "c.name", TEXT, sort=True, sort_sql=f"left(c.name, {SORTED_PREFIX})"),
        filtered(
            "correlationKey",
            "nullif(c.correlation_key, '')",
            TEXT,
            sort=True,
            sort_sql=f"nullif(left(c.correlation_key, {SORTED_PREFIX}), '')",
        ),
        filtered("correlationTime", "c.correlated_at", TIME, sort=True),
        filtered("elementId", "c.element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "c.element_instance_key", KEY, sort=True, implied=implied.of_element("c")),
        filtered("processDefinitionId", "c.process_id", TEXT, sort=True, implied=implied.of_process("c")),
        filtered(
            "processDefinitionKey", "c.process_definition_key", KEY, sort=True, implied=implied.of_definition("c")
        ),
        filtered("processInstanceKey", "c.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "c.root_key", KEY),
        filtered("partitionId", "(c.message_key >> 51)", NUMBER, sort=True),
        filtered("tenantId", "c.tenant_id", TEXT, sort=True),
        filtered("businessId", "c.business_id", TEXT, sort=True),
    ),
)
