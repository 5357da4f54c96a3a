"""Element instances that can be searched."""

from __future__ import annotations

from vivero.core.dispatch import ELEMENTS
from vivero.storage.search import implied
from vivero.storage.search.fields import ENUM, FLAG, KEY, TEXT, TIME, Field, enumeration, filtered, plain
from vivero.storage.search.resources import Resource

ELEMENT_STATES = ("ACTIVE", "COMPLETED", "TERMINATED")
API_TYPES = {"TRANSACTION": "SUB_PROCESS", "COMPLEX_GATEWAY": "UNKNOWN"}
"""Element types that the REST API does not know → those that it shows, because clients refuse others."""
ELEMENT_TYPES = ("UNSPECIFIED", *(type for type in ELEMENTS if type not in API_TYPES), "SEQUENCE_FLOW", "UNKNOWN")


def element_state(table: str) -> str:
    """The SQL of an instance's state in the API: ACTIVE until it has ended."""
    return f"CASE WHEN {table}.ended_at IS NULL THEN 'ACTIVE' ELSE {table}.state END"


def element_type(table: str) -> str:
    """The SQL of the type of an element in the API."""
    cases = " ".join(f"WHEN '{type}' THEN '{shown}'" for type, shown in API_TYPES.items())
    return f"CASE {table}.element_type {cases} ELSE {table}.element_type END"


ELEMENT_CASES = {"ACTIVE": "e.ended_at IS NULL", "TERMINATED": "e.state = 'TERMINATED'"}
"""The conditions of partial indexes."""

ELEMENT_INSTANCES = Resource(
    "Element Instance",
    "element_instances e",
    "e.element_instance_key",
    (
        plain("processDefinitionId", "e.process_id", TEXT, sort=True, implied=implied.by_process_id("e")),
        filtered("startDate", "e.started_at", TIME, sort=True),
        filtered("endDate", "e.ended_at", TIME, sort=True),
        filtered("elementId", "e.element_id", TEXT, sort=True),
        filtered("elementName", "coalesce(e.element_name, e.element_id)", TEXT, sort=True),
        plain("type", element_type("e"), ENUM, values=ELEMENT_TYPES, sort=True),
        enumeration("state", element_state("e"), ELEMENT_STATES, sort=True, cases=ELEMENT_CASES),
        plain("hasIncident", "(e.incidents > 0 AND e.ended_at IS NULL)", FLAG),
        plain("tenantId", "e.tenant_id", TEXT, sort=True),
        plain("elementInstanceKey", "e.element_instance_key", KEY, sort=True),
        plain("processInstanceKey", "e.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "e.root_key", KEY),
        plain(
            "processDefinitionKey", "e.process_definition_key", KEY, sort=True, implied=implied.by_definition_key("e")
        ),
        plain(
            "incidentKey", "e.incident_key", KEY, sort=True, implied=implied.by_row("e", "incidents", "incident_key")
        ),
        plain("elementInstanceScopeKey", "e.scope_key", KEY, shown=False, implied=implied.by_element_key("e")),
    ),
    alternatives=True,
)
