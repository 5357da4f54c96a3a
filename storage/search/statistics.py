"""The numbers of element instances, by element and state, in the process instances that fit a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.filters import matching
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import SearchStatement


def prepare_statistics(
    resource: Resource, filter: Mapping[str, Any], *extra: tuple[str, Any], tenants: Tenants = None
) -> SearchStatement:
    """The statement for the counts of these tenants' process instances that fit the filter. Raises BadQuery."""
    parameters = Parameters(tenants is not None)
    rows = matching(resource, filter, extra, tenants, parameters)
    text = _STATISTICS.format(f"SELECT {resource.key} FROM {rows}")
    return SearchStatement(text, parameters.values, False)


_STATISTICS = """
SELECT coalesce(json_agg(s ORDER BY s."elementId"), '[]') FROM (
    SELECT e.element_id AS "elementId", count(*) FILTER (WHERE e.ended_at IS NULL AND e.incidents = 0) AS active,
        count(*) FILTER (WHERE e.state = 'TERMINATED') AS canceled,
        count(*) FILTER (WHERE e.ended_at IS NULL AND e.incidents > 0) AS incidents,
        count(*) FILTER (WHERE e.state = 'COMPLETED') AS completed
    FROM element_instances e
    WHERE e.process_instance_key IN ({}) AND e.element_type <> 'MULTI_INSTANCE_BODY'
    GROUP BY e.element_id
) s
"""


async def run_statistics(connection: Connection, prepared: SearchStatement) -> bytes:
    """The counts as a JSON array."""
    document: bytes = (await connection.execute(prepared.text, prepared.values)).rows[0][0]
    return document
