"""Settings of PostgreSQL that a server, a database or a role may have, and that decide what our statements mean.

A session sets those that it may set when it begins (`RELIED_ON`, `AT_LEAST`). The start refuses the others by name
(`REFUSED`). Every other setting changes how fast or where something is done, or what is logged: `HARMLESS` names them,
so that a test finds the settings of a new version on which nobody has decided.
"""

from __future__ import annotations

from collections.abc import Mapping

RELIED_ON: Mapping[str, str] = {
    # The isolation of statements. The engine's fences and claims are made for this level.
    "default_transaction_isolation": "read committed",
    "default_transaction_deferrable": "off",
    # The texts of values: arrays with NULL, dates, intervals, bytes, numbers, names.
    "array_nulls": "on",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "quote_all_identifiers": "off",
    # The syntax of statements.
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "plpgsql.extra_errors": "none",
    "plpgsql.extra_warnings": "none",
    # The rows that statements find: all rows of an index, of tables under row-level security, of views.
    "gin_fuzzy_search_limit": "0",
    "row_security": "on",
    "restrict_nonsystem_relation_kind": "",
    # When a statement or a session ends. Each call has its own deadline, and idle sessions are to stay.
    "statement_timeout": "0",
    "lock_timeout": "10s",
    "transaction_timeout": "0",
    "idle_session_timeout": "0",
    "exit_on_error": "off",
    # Messages to the client: nothing that nobody reads.
    "client_min_messages": "warning",
}
"""Set by every session. One that a version of PostgreSQL lacks is left out."""

AT_LEAST: Mapping[str, str] = {"idle_in_transaction_session_timeout": "60s"}
"""Raised by every session if it is shorter: transactions wait for the engine and for background jobs. 0 is for ever."""

REFUSED: Mapping[str, tuple[str, str]] = {
    "session_replication_role": ("origin", "triggers do not run, so that nodes do not hear of changed rights"),
    "plpgsql.variable_conflict": ("error", "functions take columns for variables, or the other way round"),
}
"""Only superusers may set them: the value that is needed, and what happens without it."""

BY_TASK = (
    *(
        "search_path",
        "default_transaction_read_only",
        "client_encoding",
        "application_name",
        "synchronous_commit",
        "jit",
        "plan_cache_mode",
    ),
    *("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_indexscan", "enable_indexonlyscan"),
    *("enable_bitmapscan", "enable_nestloop", "enable_sort"),
)
"""Decided elsewhere: `installations`, `dsn`, `checks`, `plans`."""

HARMLESS = (
    # Texts of people, encodings of names, places of files.
    *("lc_messages", "lc_monetary", "lc_numeric", "lc_time", "icu_validation_level", "timezone_abbreviations"),
    *("default_text_search_config", "default_tablespace", "temp_tablespaces", "default_table_access_method"),
    *("default_toast_compression", "dynamic_library_path", "extension_control_path", "file_copy_method"),
    *("local_preload_libraries", "session_preload_libraries", "event_triggers", "createrole_self_grant"),
    *(
        "check_function_bodies",
        "lo_compat_privileges",
        "xmlbinary",
        "xmloption",
        "backslash_quote",
        "escape_string_warning",
    ),
    # Settings of a transaction, which begins with the defaults above.
    *("transaction_deferrable", "transaction_isolation", "transaction_read_only"),
    # Settings of the connection, and of passwords.
    *("md5_password_warnings", "password_encryption", "scram_iterations", "client_connection_check_interval"),
    *("tcp_keepalives_count", "tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_user_timeout"),
    *("wal_sender_timeout", "post_auth_delay", "deadlock_timeout"),
    # Speed and memory. `vivero doctor` looks at those that often matter.
    *("ignore_system_indexes", "gin_pending_list_limit", "max_stack_depth", "temp_file_limit", "synchronize_seqscans"),
    # For developers of PostgreSQL, and for repairs. `vivero doctor` names those that hide damage.
    *("allow_in_place_tablespaces", "allow_system_table_mods", "zero_damaged_pages", "ignore_checksum_failure"),
)

HARMLESS_KINDS = (
    *("Query Tuning", "Reporting and Logging", "Resource Usage", "Statistics", "Vacuuming", "Write-Ahead Log"),
    "Autovacuum",
)
"""Categories of which every setting is harmless: speed, logs and figures."""
HARMLESS_WORDS = ("debug_", "trace_", "jit_", "backtrace_", "wal_consistency")
"""Beginnings of names of developers' settings."""

BEGIN_SESSION = """
SELECT pg_backend_pid(), set_config(name, value, false)
FROM unnest($1::text[], $2::text[]) AS settings (name, value)
WHERE CASE WHEN name = ANY ($3::text[])
    THEN current_setting(name)::interval BETWEEN interval '1 us' AND value::interval
    ELSE name LIKE '%.%' OR current_setting(name, true) IS NOT NULL END"""
"""Makes settings, of which those in `$3` are only raised. One that this version lacks is left out."""


def beginning(settings: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """The parameters of `BEGIN_SESSION` for a session with settings of its own."""
    all_of_them = {**AT_LEAST, **RELIED_ON, **settings}
    return list(all_of_them), list(all_of_them.values()), [name for name in AT_LEAST if name not in settings]
