"""The names of the variables of a process definition's instances.

No index has names by definition: it would cost each write of a variable. The search reads the newest instances of the
definition, and only the entries of an index.
"""

from __future__ import annotations

from typing import Any

from vivero.storage.search.fields import TEXT, Field, filtered
from vivero.storage.search.groups import Groups
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource

NEWEST = "newest instances of definition"
INSTANCES = 1_000
"""The most process instances of each partition whose variables are read, the newest ones."""


def _of_newest_instances(value: Any, _path: str, parameters: Parameters) -> str:
    """Keys have the order of time within a partition, which is their upper part."""
    key = parameters.add(value, "bigint")
    return f"""v.process_instance_key = ANY (ARRAY(
        SELECT n.process_instance_key FROM partitions o CROSS JOIN LATERAL (
            SELECT p.process_instance_key FROM process_instances p
            WHERE p.process_definition_key = {key}
                AND p.process_instance_key >= o.id::bigint << 51 AND p.process_instance_key < (o.id + 1)::bigint << 51
            ORDER BY p.process_instance_key DESC LIMIT {INSTANCES}
        ) n))"""


VARIABLE_NAMES = Groups(
    Resource(
        "Variable",
        "variables v",
        "v.variable_key",
        (filtered("name", "v.name", TEXT), Field("tenantId", "v.tenant_id", TEXT)),
        within={NEWEST: _of_newest_instances},
    ),
    lambda rows, _: f"SELECT v.name FROM {rows} GROUP BY v.name",
    Resource(
        "Variable Name",
        "g",
        "g.name",
        (Field("name", "g.name", TEXT),),
        key_type=TEXT,
    ),
)
