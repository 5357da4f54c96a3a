"""The policies of row-level security: which rows of each table a reader with some tenants sees.

The role of the API's reads may read the tables of `POLICIES` and `SHARED`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

SHARED = ("clock", "cluster", "element_count_totals", "job_count_totals", "partitions", "usage_secret")
"""Tables without rows of tenants."""
VIEWS = (
    *("counted_durations", "counted_elements", "counted_jobs", "message_subscriptions"),
    *("counted_instances", "counted_instance_durations"),
    *("process_definitions_view", "process_instances_view", "timers_view", "command_log_view"),
)
"""Views whose tables have policies."""

_TENANTS = "(SELECT nullif(current_setting('vivero.tenants', true), '')::text[])::text[]"
"""A subquery, so that PostgreSQL evaluates it once, and not for each row. Without the setting, no row fits."""

_OWN = f"tenant_id = ANY ({_TENANTS})"
_OF_DEFINITION = """(
    SELECT true FROM process_definitions d WHERE d.process_definition_key = {table}.process_definition_key)"""
_COUNTS = (
    *("element_counts", "element_count_changes", "element_durations", "instance_counts", "instance_durations"),
    "usual_durations",
)
_OF_BODY = "(SELECT true FROM element_instances e WHERE e.element_instance_key = {table}.body_key)"
"""Policies apply to subqueries, too. PostgreSQL never turns a scalar subquery into a hash of the whole table."""

_OF_INSTANCE = "(SELECT true FROM process_instances i WHERE i.process_instance_key = {table}.process_instance_key)"

POLICIES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *(
                "process_definitions",
                "forms",
                "generic_resources",
                "decision_requirements",
                "decision_definitions",
                "process_instances",
                "element_instances",
                "variables",
                "incidents",
                "jobs",
            ),
            *("timers", "user_tasks", "subscriptions", "start_subscriptions", "message_correlations", "messages"),
            *("user_task_comments", "saved_views", "alert_rules", "model_drafts"),
            *("agent_answers", "agent_calls", "agent_usage", "inbound_connectors"),
            *("compensations", "decision_instances"),
            *("audit_log", "batch_operation_items", "job_counts", "job_count_changes"),
        ),
        _OWN,
    ),
    **dict.fromkeys(("documents", "document_contents", "deleted_usage", "deleted_assignees"), _OWN),
    "document_parts": """(
    SELECT true FROM document_contents c WHERE c.content_key = document_parts.content_key)""",
    **{table: _OF_DEFINITION.format(table=table) for table in _COUNTS},
    **{table: _OF_BODY.format(table=table) for table in ("loop_items", "paged_loop_items")},
    "alert_deliveries": """(
    SELECT true FROM alert_rules a WHERE a.alert_rule_key = alert_deliveries.alert_rule_key)""",
    "work_items": _OF_INSTANCE.format(table="work_items"),
    **dict.fromkeys(("cluster_variables", "agent_stops"), f"{_OWN} OR tenant_id = ''"),
    "batch_operations": f"tenants <@ {_TENANTS}",
    "resources": """EXISTS (SELECT FROM process_definitions d WHERE d.sha256 = resources.sha256)
    OR EXISTS (SELECT FROM forms f WHERE f.sha256 = resources.sha256)
    OR EXISTS (SELECT FROM generic_resources g WHERE g.sha256 = resources.sha256)
    OR EXISTS (SELECT FROM decision_requirements r WHERE r.sha256 = resources.sha256)""",
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
CREATE OR REPLACE FUNCTION {signature} LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ {body} $$;
REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {name} TO {reader};
"""
_KEYS = f"SELECT {{key}} FROM {{{{schema}}}}.{{table}} WHERE {{condition}} AND {_OWN}"
FUNCTIONS: Mapping[str, tuple[str, str]] = {
    "tenants_of_command": (
        "(p int, pos bigint) RETURNS text",
        "SELECT tenant_id FROM {schema}.command_log WHERE partition_id = p AND position = pos",
    ),
    "instances_with_tags": (
        "(texts text[]) RETURNS SETOF bigint",
        _KEYS.format(
            key="process_instance_key", table="process_instances", condition="tags @> texts AND tags <> '{{}}'"
        ),
    ),
    **{
        f"tasks_of_{who}": (
            "(texts text[]) RETURNS SETOF bigint",
            _KEYS.format(
                key="user_task_key", table="user_tasks", condition=f"candidate_{who} && texts AND ended_at IS NULL"
            ),
        )
        for who in ("groups", "users")
    },
}
"""Name → signature and body. They have the rights of the owner. The first one exists because the policies of two
tables must not query each other. The others have the condition of the policy, and use indexes that row-level security
does not allow."""

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
    """The comment of a policy. It changes when the policy or the functions change."""
    return sha256(f"{condition} {sorted(FUNCTIONS.items())}".encode()).hexdigest()


def script(schema: str, owner: str, reader: str) -> str:
    """The statements that enable row-level security on all tables. The names are quoted already."""
    shared = (f"GRANT SELECT ON {table} TO {reader};" for table in (*SHARED, *VIEWS))
    tables = (
        _TABLE.format(table=table, owner=owner, reader=reader, condition=condition, digest=digest(condition))
        for table, condition in POLICIES.items()
    )
    functions = (
        _FUNCTION.format(signature=name + signature, name=name, body=body.format(schema=schema), reader=reader)
        for name, (signature, body) in FUNCTIONS.items()
    )
    return "\n".join([*functions, *shared, *tables])
