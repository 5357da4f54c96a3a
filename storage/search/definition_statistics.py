"""Numbers of running process instances and open message subscriptions, by process and by process definition.

The engine counts running instances (`element_counts`, element ''). Few have incidents: an index has those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from vivero.storage.search.fields import FLAG, KEY, NUMBER, TEXT, Field, plain
from vivero.storage.search.groups import Groups
from vivero.storage.search.messages import MESSAGE_SUBSCRIPTIONS
from vivero.storage.search.resources import Resource

_RUNNING = """
    (SELECT process_definition_key, sum(active)::bigint AS instances FROM counted_elements
        WHERE element_id = '' GROUP BY process_definition_key HAVING sum(active) > 0) r
    JOIN process_definitions d USING (process_definition_key)
    LEFT JOIN (SELECT process_definition_key, count(*) AS instances FROM process_instances
        WHERE incidents > 0 AND ended_at IS NULL AND suspended_at IS NULL GROUP BY process_definition_key) i
        USING (process_definition_key)
    LEFT JOIN (SELECT process_definition_key, count(*) AS instances FROM process_instances
        WHERE suspended_at IS NOT NULL AND ended_at IS NULL GROUP BY process_definition_key) s
        USING (process_definition_key)
"""
"""Definitions with running instances. A suspended instance runs, but is not active."""
_WITHOUT_INCIDENT = "r.instances - coalesce(i.instances, 0) - coalesce(s.instances, 0)"


def _rows(field: Callable[..., Field]) -> Resource:
    """The rows of these statistics. `field` makes their fields, with or without a filter."""
    fields = field("processDefinitionId", "d.process_id", TEXT), field("tenantId", "d.tenant_id", TEXT)
    return Resource("Process definition", _RUNNING, "d.process_definition_key", fields)


_sorted = partial(Field, sort=True)
_COUNTS = (
    _sorted("activeInstancesWithoutIncidentCount", "g.without_incident", NUMBER),
    _sorted("activeInstancesWithIncidentCount", "g.with_incident", NUMBER),
    Field("suspendedInstancesCount", "g.suspended", NUMBER),
)
_MOST_FIRST = (("activeInstancesWithIncidentCount", True), ("activeInstancesWithoutIncidentCount", True))

INSTANCES_BY_PROCESS = Groups(
    _rows(Field),
    lambda rows, _: (
        f"""
    SELECT d.process_id, d.tenant_id, min(d.process_definition_key) AS key, count(*) > 1 AS several,
        (array_agg(d.name ORDER BY d.version DESC))[1] AS name,
        sum({_WITHOUT_INCIDENT})::bigint AS without_incident, coalesce(sum(i.instances), 0)::bigint AS with_incident,
        coalesce(sum(s.instances), 0)::bigint AS suspended
    FROM {rows} GROUP BY d.process_id, d.tenant_id
    """
    ),
    Resource(
        "Statistics",
        "g",
        "g.key",
        (
            _sorted("processDefinitionId", "g.process_id", TEXT),
            Field("tenantId", "g.tenant_id", TEXT),
            Field("latestProcessDefinitionName", "g.name", TEXT),
            Field("hasMultipleVersions", "g.several", FLAG),
            *_COUNTS,
        ),
    ),
    _MOST_FIRST,
)
"""For each process with running instances: how many of them have incidents. Name and versions are those that run."""

INSTANCES_BY_VERSION = Groups(
    _rows(plain),
    lambda rows, _: (
        f"""
    SELECT d.process_id, d.process_definition_key AS key, d.name, d.tenant_id, d.version,
        {_WITHOUT_INCIDENT} AS without_incident, coalesce(i.instances, 0) AS with_incident,
        coalesce(s.instances, 0) AS suspended
    FROM {rows}
    """
    ),
    Resource(
        "Statistics",
        "g",
        "g.key",
        (
            _sorted("processDefinitionId", "g.process_id", TEXT),
            _sorted("processDefinitionKey", "g.key", KEY),
            _sorted("processDefinitionName", "g.name", TEXT),
            Field("tenantId", "g.tenant_id", TEXT),
            _sorted("processDefinitionVersion", "g.version", NUMBER),
            *_COUNTS,
        ),
    ),
    (("processDefinitionVersion", True),),
    ("processDefinitionId",),
)
"""The same for the versions of a process."""

_OPEN = """
    (SELECT subscription_key, process_id, process_definition_key, process_name, process_version, process_instance_key,
        root_key, target_element_id AS element_id, element_instance_key, state, 'PROCESS_EVENT' AS subscription_type,
        updated_at, name, correlation_key, tenant_id, business_id
    FROM subscriptions WHERE kind = 'MESSAGE' AND ended_at IS NULL) s
"""

MESSAGE_SUBSCRIPTIONS_BY_DEFINITION = Groups(
    replace(MESSAGE_SUBSCRIPTIONS, source=_OPEN),
    lambda rows, _: (
        f"""
    SELECT d.process_id, d.tenant_id, d.process_definition_key AS key, w.subscriptions, w.instances
    FROM (SELECT s.process_definition_key, count(*) AS subscriptions,
            count(DISTINCT s.process_instance_key) AS instances
        FROM {rows} GROUP BY s.process_definition_key) w
    JOIN process_definitions d USING (process_definition_key)
    """
    ),
    Resource(
        "Statistics",
        "g",
        "g.key",
        (
            Field("processDefinitionId", "g.process_id", TEXT),
            Field("tenantId", "g.tenant_id", TEXT),
            Field("processDefinitionKey", "g.key", KEY),
            Field("processInstancesWithActiveSubscriptions", "g.instances", NUMBER),
            Field("activeSubscriptions", "g.subscriptions", NUMBER),
        ),
    ),
)
"""For each definition whose instances wait for messages: how many instances, with how many subscriptions."""
