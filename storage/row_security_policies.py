"""The policies of row-level security: which rows of each table a reader with some tenants sees.

The role of the API's reads may read the tables of `POLICIES` and `SHARED`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

SHARED = ("clock", "cluster", "element_count_totals", "partitions")
"""Tables without rows of tenants."""
VIEWS = ("counted_elements", "message_subscriptions")
"""Views whose tables have policies."""

_TENANTS = "(SELECT nullif(current_setting('vivero.tenants', true), '')::text[])::text[]"
"""A subquery, so that PostgreSQL evaluates it once, and not for each row. Without the setting, no row fits."""

_OWN = f"tenant_id = ANY ({_TENANTS})"
_OF_DEFINITION = """(
    SELECT true FROM process_definitions d WHERE d.process_definition_key = {table}.process_definition_key)"""
_OF_BODY = "(SELECT true FROM element_instances e WHERE e.element_instance_key = {table}.body_key)"
"""Subqueries see what their own policies let through. A scalar subquery never becomes a hash of the whole table."""

POLICIES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("process_definitions", "process_instances", "element_instances", "variables", "incidents", "jobs"),
            *("timers", "user_tasks", "subscriptions", "start_subscriptions", "message_correlations"),
            "audit_log",
        ),
        _OWN,
    ),
    **{table: _OF_DEFINITION.format(table=table) for table in ("element_counts", "element_count_changes")},
    **{table: _OF_BODY.format(table=table) for table in ("loop_items", "paged_loop_items")},
    "resources": "EXISTS (SELECT FROM process_definitions d WHERE d.sha256 = resources.sha256)",
    "command_log": f"""string_to_array(tenant_id, ',') <@ {_TENANTS} OR EXISTS (
    SELECT FROM event_log e JOIN process_instances p ON p.process_instance_key = e.root_key
    WHERE e.partition_id = command_log.partition_id AND e.position = command_log.position)""",
    "event_log": f"""coalesce(
    (SELECT true FROM process_instances p WHERE p.process_instance_key = event_log.root_key),
    string_to_array(tenants_of_command(event_log.partition_id, event_log.position), ',') <@ {_TENANTS})""",
}
"""Table → condition on its rows. A command by key names all tenants of its sender; it is visible to readers that have
them all, and to those that see an instance that it changed."""

_FUNCTION = """
CREATE OR REPLACE FUNCTION tenants_of_command(p int, pos bigint) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
    $$ SELECT tenant_id FROM {schema}.command_log WHERE partition_id = p AND position = pos $$;
REVOKE EXECUTE ON FUNCTION tenants_of_command FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_of_command TO {reader};
"""
"""With the rights of its owner: policies of two tables must not ask each other."""

_TABLE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS engine ON {table};
CREATE POLICY engine ON {table} TO {owner} USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS tenants ON {table};
CREATE POLICY tenants ON {table} FOR SELECT USING ({condition});
COMMENT ON POLICY tenants ON {table} IS '{digest}';
GRANT SELECT ON {table} TO {reader};
"""


def digest(condition: str) -> str:
    """What the comment of a policy says, to tell it from another version's."""
    return sha256(condition.encode()).hexdigest()


def script(schema: str, owner: str, reader: str) -> str:
    """The statements that put all tables under row-level security. The names are quoted already."""
    shared = (f"GRANT SELECT ON {table} TO {reader};" for table in (*SHARED, *VIEWS))
    tables = (
        _TABLE.format(table=table, owner=owner, reader=reader, condition=condition, digest=digest(condition))
        for table, condition in POLICIES.items()
    )
    return "\n".join([_FUNCTION.format(schema=schema, reader=reader), *shared, *tables])
