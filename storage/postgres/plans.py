"""Settings that make PostgreSQL access rows by index.

PostgreSQL plans a statement once for a connection, often while the tables are empty. For an empty table a hash join or
a sequential scan is cheapest. Such a plan stays in use until new statistics arrive, however large the table becomes:
each batch and each activation then reads the whole table. All our statements ask for few rows by their keys, so these
settings rule such plans out. JIT compilation is off because it costs more than it saves for such statements.
"""

from vivero.storage.postgres.driver import Call

BY_INDEX = {
    **dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"), "off"),
    **dict.fromkeys(("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"), "on"),
    **dict.fromkeys(("enable_nestloop", "enable_sort"), "on"),
}
"""Settings for all sessions. PostgreSQL still scans a table where there is no other way."""

ONCE = {**BY_INDEX, "plan_cache_mode": "force_generic_plan"}
"""Settings for a session that prepares all its statements: each is planned once. By default PostgreSQL may plan a
statement with an array of keys anew for each call, which costs more than running it."""

CHORES = {**BY_INDEX, "synchronous_commit": "off"}
"""Settings for a session whose latest changes a crash may undo, because its task makes them again: it deletes old rows,
or follows what the log says. Commits of others do not wait for its flushes."""


def by_index() -> Call:
    """Makes a session plan its prepared statements by index, and once."""
    query = "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS x(name, value)"
    return query, (list(ONCE), list(ONCE.values()))
