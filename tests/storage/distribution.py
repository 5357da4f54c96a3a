"""The partition of each table's rows, if every partition had its own server (docs/adr, "Beyond one PostgreSQL").

A condition tells the partition of a row. Tables without one belong to no partition; each says why.
"""

UPPER = 51
"""Keys and positions carry their partition above these bits."""


def _by(column):
    return f"{{row}}.{column} >> {UPPER} = {{partition}}"


OWN, TARGET = "{row}.partition_id = {partition}", "{row}.target_partition = {partition}"
SLOT = "(SELECT s.partition_id FROM slots s WHERE s.slot = {row}.slot) = {partition}"

BELONGS = {
    **dict.fromkeys(
        (
            *("attempts", "batches", "command_log", "event_log", "event_consumers", "outbox_deliveries"),
            *("element_counts", "element_count_changes", "element_count_totals", "element_durations"),
            *(
                "instance_counts",
                "instance_durations",
                "job_counts",
                "job_count_changes",
                "job_count_totals",
                "slot_detours",
                "retention_clocks",
                "archive_files",
                "unhashed_variables",
            ),
        ),
        OWN,
    ),
    **dict.fromkeys(("inbox", "transaction_inbox", "transaction_outcomes"), TARGET),
    "deleted_trees": _by("root_key"),
    "archive_erasures": _by("root_key"),
    "process_instances": _by("process_instance_key"),
    "element_instances": _by("element_instance_key"),
    "variables": _by("variable_key"),
    "jobs": _by("job_key"),
    "incidents": _by("incident_key"),
    "user_tasks": _by("user_task_key"),
    "user_task_comments": _by("user_task_key"),
    "agent_answers": _by("job_key"),
    "agent_calls": _by("job_key"),
    "timers": _by("timer_key"),
    "stuck_timers": _by("timer_key"),
    "subscriptions": _by("subscription_key"),
    "loop_items": _by("body_key"),
    "paged_loop_items": _by("body_key"),
    "work_items": _by("process_instance_key"),
    "message_correlations": _by("message_correlation_key"),
    "compensations": _by("compensation_key"),
    "decision_instances": _by("decision_instance_key"),
    "messages": SLOT,
    "channel_subscriptions": SLOT,
    "start_locks": SLOT,
}
"""Table → the condition for a row `{row}` that belongs to `{partition}`."""

CATALOGUE = "the catalogue: partition 1 writes it, all read it"
ACCESS = "access: the API alone reads and writes it, and its name or sum is unique everywhere"
CLUSTER = "the cluster: nodes, owners and routes, which every node asks for"
SERVER = "about the server itself: each server has its own"
FILES = "documents: the API alone reads and writes them, and their ids are unique in a tenant"
JOBS_OF_PROGRAM = "background jobs: any node runs them; those of a partition name it in a column"

GLOBAL = {
    **dict.fromkeys(
        (
            *("process_definitions", "deployments", "resources", "forms", "start_subscriptions", "definitions_seq"),
            *("decision_requirements", "decision_definitions", "global_task_listeners", "cluster_variables"),
            "generic_resources",
        ),
        CATALOGUE,
    ),
    **dict.fromkeys(
        (
            *("users", "user_groups", "roles", "members", "mapping_rules", "authorizations", "api_tokens", "sessions"),
            *("tenants", "audit_log", "saved_views", "alert_rules", "alert_deliveries", "model_drafts"),
            "database_roles",
        ),
        ACCESS,
    ),
    **dict.fromkeys(("partitions", "nodes", "slots", "tenant_partitions", "cluster", "clock"), CLUSTER),
    **dict.fromkeys(("schema_migrations", "since_recovery", "appenders"), SERVER),
    **dict.fromkeys(("job_executions", "job_dispatchers", "job_pauses", "paused_job_types"), JOBS_OF_PROGRAM),
    **dict.fromkeys(
        ("documents", "document_contents", "document_parts", "document_usage", "document_link_keys"), FILES
    ),
    "usual_durations": "durations of the versions of processes, from the instances of all partitions",
    **dict.fromkeys(
        ("deleted_usage", "deleted_assignees", "usage_secret"),
        "usage metrics: sums of all partitions, by time and tenant",
    ),
    "agent_usage": "a budget is for all instances of a tenant, in all partitions",
    "inbound_connectors": "one node works them for the instances of all partitions",
    "agent_stops": "the operator stops agents of all partitions",
    "idempotency_keys": "a repeated request may come to another partition than the first one",
    "batch_operations": "one batch operation changes instances of all partitions; partition 1 owns it",
    "batch_operation_items": "the partition of each instance counts its items in its own batches",
    "void_leases": "a random token names the lease; the activation that gives it back does not know the partition",
}
"""Table → why it belongs to no partition."""

EXCEPTIONS = {
    "archive_files_pkey": "the name of a file contains the partition as a text",
    "messages_pkey": "the owner of the slot has the row, and after a move of the slot another partition made its key",
    "channel_subscriptions_pkey": "the key is that of the element's partition; the owner of the slot has the row",
    "start_locks_pkey": "a pinned tenant's instance lives in another partition than the slot of its lock",
}
"""Unique indexes of tables that belong to partitions, without what their rows are distributed by → why."""

CARRIES = {
    *("partition_id", "target_partition", "position", "process_instance_key", "element_instance_key", "variable_key"),
    *("job_key", "incident_key", "user_task_key", "timer_key", "subscription_key", "body_key", "scope_key"),
    *("message_correlation_key", "compensation_key", "decision_instance_key", "root_key"),
}
"""Columns that tell the partition of their row."""


def condition(table, row, partition):
    """The condition of SQL for a row of a partition."""
    return BELONGS[table].format(row=row, partition=partition)


# ------------------------------------------------------------------------------------------------ a person's data

DELETED_WITH_TREES = {
    *("process_instances", "element_instances", "variables", "jobs", "timers", "subscriptions", "incidents"),
    *("user_tasks", "user_task_comments", "loop_items", "paged_loop_items", "work_items", "message_correlations"),
    *("compensations", "decision_instances", "agent_answers", "agent_calls"),
}
EMPTIED_LOGS = {"command_log", "event_log"}
SEARCHED_BY_VALUE = {
    *("idempotency_keys", "batch_operations", "batch_operation_items", "job_executions"),
    *("job_counts", "job_count_changes", "saved_views", "model_drafts", "alert_rules", "alert_deliveries"),
    "transaction_inbox",
}
DOCUMENTS = "files: those of an erased instance expire with it; the contents of others are not searched"
LIVE = "what waits: messages expire by a command, the rest counts as in use until nothing waits any more"
OPERATORS = "what operators and the authors of models name, or their accounts"
STATISTICS = "sums by names of the model"
PROGRAM = "the program's own state"
NOT_ERASED = {
    **dict.fromkeys(
        (
            *("messages", "channel_subscriptions", "start_locks", "inbox", "outbox_deliveries", "stuck_timers"),
            *("attempts", "void_leases"),
        ),
        LIVE,
    ),
    **dict.fromkeys(
        (
            *("process_definitions", "deployments", "resources", "forms", "start_subscriptions", "users"),
            *("decision_requirements", "decision_definitions", "generic_resources"),
            *("user_groups", "roles", "members", "mapping_rules", "authorizations", "api_tokens", "sessions"),
            *("tenants", "tenant_partitions", "global_task_listeners", "cluster_variables"),
            "database_roles",
        ),
        OPERATORS,
    ),
    **dict.fromkeys(("documents", "document_contents", "document_parts", "document_usage"), DOCUMENTS),
    "agent_usage": STATISTICS,
    "agent_stops": OPERATORS,
    "inbound_connectors": "names of models, and errors without values of variables",
    "audit_log": "who changed what, as the law asks for: no variables, bodies, or values of an erasure",
    **dict.fromkeys(
        (
            *("element_counts", "element_count_changes", "element_durations", "deleted_usage", "deleted_assignees"),
            *("instance_counts", "instance_durations", "usual_durations"),
        ),
        STATISTICS,
    ),
    **dict.fromkeys(
        (
            *("partitions", "nodes", "cluster", "clock", "schema_migrations", "since_recovery", "appenders"),
            *("job_dispatchers", "job_pauses", "paused_job_types", "event_consumers", "deleted_trees"),
            *("retention_clocks", "archive_files", "archive_erasures", "document_link_keys", "usage_secret"),
            "transaction_outcomes",
        ),
        PROGRAM,
    ),
}
"""Table with texts → why an erasure leaves it alone."""
