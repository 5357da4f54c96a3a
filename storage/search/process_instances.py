"""Process instances that can be searched."""

from __future__ import annotations

from typing import Any

from vivero.storage.search import implied
from vivero.storage.search.element_instances import ELEMENT_CASES, ELEMENT_STATES, element_state
from vivero.storage.search.fields import (
    FLAG,
    KEY,
    LIKE_KEY,
    NUMBER,
    OTHER,
    TEXT,
    TIME,
    Field,
    Follows,
    enumeration,
    filtered,
    plain,
)
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Unparsable
from vivero.storage.search.resources import KeysFunction, Nested, Part, Resource
from vivero.storage.search.shared_filters import has_tags, has_variables

INSTANCE_STATES = ("ACTIVE", "COMPLETED", "SUSPENDED", "TERMINATED")

STATE = "CASE WHEN p.ended_at IS NOT NULL THEN p.state WHEN p.suspended_at IS NULL THEN 'ACTIVE' ELSE 'SUSPENDED' END"
LATE = "p.ended_at - p.started_at NOT BETWEEN interval '0' AND interval '1 minute'"
"""Instances that ran for more than a minute, and those that ended while the clock was set back: an index has them."""


DUE = """coalesce(p.due_at, (SELECT p.started_at + u.usual_ms * interval '1 millisecond'
    FROM usual_durations u WHERE u.process_definition_key = p.process_definition_key))"""
"""The moment after which an open instance is late: by its model, else by the usual duration of its version."""
LATE_SINCE = f"CASE WHEN p.ended_at IS NULL AND {DUE} < (SELECT clock_now()) THEN {DUE} END"
_LATE = (
    Part("p.due_at > '-infinity' AND p.due_at < (SELECT clock_now()) AND p.ended_at IS NULL"),
    Part(
        "p.process_definition_key = u.key AND p.started_at < u.late_before AND p.ended_at IS NULL AND p.due_at IS NULL",
        """(
        SELECT process_definition_key AS key, clock_now() - usual_ms * interval '1 millisecond' AS late_before
        FROM usual_durations OFFSET 0
    ) u""",
        "p.started_at",
    ),
)
"""The late ones, by the two indexes of open instances, of each version the first ones. OFFSET 0 keeps functions out of
the comparison: policies of row-level security would hold it back from the index. The lower bound of due dates excludes
nothing: PostgreSQL expects a third of all rows before an unknown time, but few between two times, and would read the
index of all open instances."""
_LATE_KEYS = f"""ARRAY(
    SELECT p.process_instance_key FROM process_instances p WHERE {_LATE[0].condition}
    UNION ALL
    SELECT q.process_instance_key FROM {_LATE[1].within} CROSS JOIN LATERAL (
        SELECT p.process_instance_key FROM process_instances p WHERE {_LATE[1].condition} ORDER BY p.started_at OFFSET 0
    ) q)"""


def _is_late(value: Any, path: str, _parameters: Parameters) -> str:
    if type(value) is not bool:
        raise Unparsable(path)
    return f"p.process_instance_key = ANY ({_LATE_KEYS})" if value else f"({LATE_SINCE}) IS NULL"


def _has_retries_left(value: Any, path: str, _parameters: Parameters) -> str:
    if type(value) is not bool:
        raise Unparsable(path)
    failed = (
        "EXISTS (SELECT FROM jobs j WHERE j.process_instance_key = p.process_instance_key"
        " AND j.state = 'FAILED' AND j.retries > 0)"
    )
    return failed if value else f"NOT {failed}"


PROCESS_INSTANCES = Resource(
    "Process Instance",
    "process_instances p",
    "p.process_instance_key",
    (
        filtered("processDefinitionId", "p.process_id", TEXT, sort=True),
        filtered("processDefinitionName", "p.process_name", TEXT, sort=True, implied=implied.by_process_name("p")),
        filtered("processDefinitionVersion", "p.process_version", NUMBER, sort=True),
        filtered(
            "processDefinitionVersionTag",
            "p.version_tag",
            TEXT,
            sort=True,
            implied=implied.by_version_tag("p"),
        ),
        filtered("startDate", "p.started_at", TIME, sort=True, orders=True),
        filtered(
            "endDate",
            "p.ended_at",
            TIME,
            sort=True,
            orders=True,
            apart=frozenset({"endDate", "state"}),
            follows=Follows("startDate", "1 minute", LATE, {"state": {"COMPLETED": False, "TERMINATED": False}}),
        ),
        enumeration(
            "state",
            STATE,
            INSTANCE_STATES,
            sort=True,
            cases={
                "ACTIVE": "p.ended_at IS NULL AND p.suspended_at IS NULL",
                "COMPLETED": "p.state = 'COMPLETED' AND p.ended_at IS NOT NULL",
                "SUSPENDED": "p.ended_at IS NULL AND p.suspended_at IS NOT NULL",
                "TERMINATED": "p.state = 'TERMINATED' AND p.ended_at IS NOT NULL",
            },
        ),
        filtered("suspendedDate", "p.suspended_at", TIME, sort=True),
        Field("suspensionReason", "p.suspended_reason", TEXT),
        plain("hasIncident", "(p.incidents > 0 AND p.ended_at IS NULL)", FLAG, sort=True),
        Field("dueDate", "p.due_at", TIME),
        Field("lateDate", LATE_SINCE, TIME),
        filtered("tenantId", "p.tenant_id", TEXT, sort=True),
        filtered("processInstanceKey", "p.process_instance_key", KEY, sort=True),
        filtered("processDefinitionKey", "p.process_definition_key", KEY, sort=True),
        filtered("parentProcessInstanceKey", "p.parent_process_instance_key", KEY, sort=True),
        filtered(
            "parentElementInstanceKey",
            "p.parent_element_instance_key",
            KEY,
            sort=True,
            implied=implied.by_parent_element_key("p"),
        ),
        Field("rootProcessInstanceKey", "p.root_key", KEY),
        Field("tags", "p.tags", OTHER),
        filtered("businessId", "p.business_id", TEXT, sort=True),
    ),
    special={
        "variables": has_variables("v.process_instance_key = p.process_instance_key"),
        "tags": has_tags("p.tags"),
        "hasRetriesLeft": _has_retries_left,
        "isLate": _is_late,
    },
    parts={"isLate": _LATE},
    nested=(
        Nested(
            "EXISTS (SELECT FROM element_instances e WHERE e.process_instance_key = p.process_instance_key AND {})",
            (
                enumeration("elementInstanceState", element_state("e"), ELEMENT_STATES, cases=ELEMENT_CASES),
                filtered("elementId", "e.element_id", TEXT),
                plain("hasElementInstanceIncident", "(e.incidents > 0 AND e.ended_at IS NULL)", FLAG),
            ),
        ),
        Nested(
            "EXISTS (SELECT FROM batch_operation_items b WHERE b.process_instance_key = p.process_instance_key AND {})",
            (
                filtered("batchOperationKey", "b.batch_operation_key", LIKE_KEY),
                filtered("batchOperationId", "b.batch_operation_key", LIKE_KEY),
            ),
        ),
        Nested(
            "EXISTS (SELECT FROM incidents i WHERE i.process_instance_key = p.process_instance_key"
            " AND i.resolved_at IS NULL AND {})",
            (
                filtered("errorMessage", "i.message", TEXT),
                filtered("incidentErrorHashCode", "i.error_hash", NUMBER),
                filtered("incidentCauseHashCode", "i.cause", NUMBER),
            ),
        ),
    ),
    alternatives=True,
    variables="process_instance_key",
    key_functions={"tags": KeysFunction("instances_with_tags")},
)
