"""Numbers of process instances with active incidents, by error and by process definition; and of incidents by cause.

Incidents with the same message have the same error; those of one cause have messages that differ only in their data.
The indexes `incidents_errors` and `incidents_causes` have all that these groups need: without restrictions to tenants,
no row is read.
"""

from __future__ import annotations

from functools import partial

from vivero.storage.search.fields import KEY, NUMBER, SORTED_PREFIX, TEXT, TIME, Field, enumeration, plain
from vivero.storage.search.groups import Groups
from vivero.storage.search.incidents import ERROR_TYPES
from vivero.storage.search.resources import Resource

_HASH = plain("errorHashCode", "i.error_hash", NUMBER)


def _rows(*filters: Field) -> Resource:
    """Active incidents. Process and tenant are those of the definition, which has them at hand."""
    return Resource(
        "Incident",
        "incidents i JOIN process_definitions d USING (process_definition_key)",
        "i.incident_key",
        (*filters, Field("processDefinitionId", "d.process_id", TEXT), Field("tenantId", "d.tenant_id", TEXT)),
        visible="i.resolved_at IS NULL",
    )


_sorted = partial(Field, sort=True)
_COUNT = _sorted("activeInstancesWithErrorCount", "g.instances", NUMBER)
_MOST_FIRST = (("activeInstancesWithErrorCount", True),)
_MESSAGE = "(SELECT message FROM incidents WHERE incident_key = g.incident_key)"

INSTANCES_BY_ERROR = Groups(
    _rows(),
    lambda rows, _: (
        f"""
    SELECT error_hash, sum(instances)::bigint AS instances, min(incident_key) AS incident_key FROM (
        SELECT i.error_hash, count(DISTINCT i.process_instance_key) AS instances, min(i.incident_key) AS incident_key
        FROM {rows} GROUP BY i.error_hash, i.process_definition_key
    ) of_definition GROUP BY error_hash
    """
    ),
    Resource(
        "Statistics",
        "g",
        "g.error_hash::bigint",
        (
            Field("errorHashCode", "g.error_hash", NUMBER),
            _sorted("errorMessage", _MESSAGE, TEXT, sort_sql=f"left({_MESSAGE}, {SORTED_PREFIX})"),
            _COUNT,
        ),
    ),
    _MOST_FIRST,
)
"""For each error: how many running instances have an active incident with it."""

INSTANCES_BY_DEFINITION = Groups(
    _rows(_HASH),
    lambda rows, _: (
        f"""
    SELECT d.process_definition_key AS key, d.process_id, coalesce(d.name, d.process_id) AS name, d.version,
        d.tenant_id, count(DISTINCT i.process_instance_key) AS instances
    FROM {rows} GROUP BY d.process_definition_key
    """
    ),
    Resource(
        "Statistics",
        "g",
        "g.key",
        (
            Field("processDefinitionId", "g.process_id", TEXT),
            _sorted("processDefinitionKey", "g.key", KEY),
            Field("processDefinitionName", "g.name", TEXT),
            Field("processDefinitionVersion", "g.version", NUMBER),
            _sorted("tenantId", "g.tenant_id", TEXT),
            _COUNT,
        ),
    ),
    _MOST_FIRST,
    ("errorHashCode",),
)
"""For one error: how many running instances of each definition have it."""

_NEWEST = "(SELECT {} FROM incidents WHERE incident_key = g.incident_key)"

BY_CAUSE = Groups(
    _rows(
        plain("causeHashCode", "i.cause", NUMBER),
        plain("elementId", "i.element_id", TEXT),
        enumeration("errorType", "i.type", ERROR_TYPES),
    ),
    lambda rows, _: (
        f"""
    SELECT cause, d.process_id, d.tenant_id, element_id, type, sum(incidents)::bigint AS incidents,
        max(incident_key) AS incident_key
    FROM (
        SELECT i.cause, i.process_definition_key, i.element_id, i.type, count(*) AS incidents,
            max(i.incident_key) AS incident_key
        FROM {rows} GROUP BY i.cause, i.process_definition_key, i.element_id, i.type
    ) of_definition JOIN process_definitions d USING (process_definition_key)
    GROUP BY cause, d.process_id, d.tenant_id, element_id, type
    """
    ),
    Resource(
        "Statistics",
        "g",
        "g.incident_key",
        (
            Field("causeHashCode", "g.cause", NUMBER),
            Field("processDefinitionId", "g.process_id", TEXT),
            Field("tenantId", "g.tenant_id", TEXT),
            Field("elementId", "g.element_id", TEXT),
            Field("errorType", "g.type", TEXT),
            Field("errorMessage", _NEWEST.format("message"), TEXT),
            Field("incidentKey", "g.incident_key", KEY),
            Field("processInstanceKey", _NEWEST.format("process_instance_key"), KEY),
            Field("jobKey", _NEWEST.format("job_key"), KEY),
            Field("creationTime", _NEWEST.format("created_at"), TIME),
            _sorted("activeIncidentsCount", "g.incidents", NUMBER),
        ),
    ),
    (("activeIncidentsCount", True),),
)
"""For each cause, at each element, of each kind: how many incidents are active, and the newest of them."""
