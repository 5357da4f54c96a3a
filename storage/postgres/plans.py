"""How PostgreSQL is to get at rows: by index.

Statements are planned once for a connection, often while the tables are empty, and a join by hash, or a look-up that
reads the whole table, is the cheapest way into an empty table. Such a plan stays in use until statistics come, however
large the table has become meanwhile: each batch, each activation then reads all of it. All our statements ask for few
rows by their keys, so we say so instead of leaving it to guesses. Compiling them costs more than running them.
"""

from vivero.storage.postgres.driver import Connection

BY_INDEX = dict.fromkeys(("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"), "off")
"""Settings of a session. A table is still read as a whole where there is no other way."""

ONCE = {**BY_INDEX, "plan_cache_mode": "force_generic_plan"}
"""Of a session whose statements are all prepared: planned once. Left to itself PostgreSQL may plan a statement with an
array of keys for each call anew, which costs more than running it."""

CHORES = {**BY_INDEX, "synchronous_commit": "off"}
"""Of a session that deletes what is no longer needed: what a crash undoes is deleted again."""


async def use_indexes(connection: Connection) -> None:
    """Have a session plan its prepared statements by index, and once."""
    query = "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS x(name, value)"
    await connection.execute(query, (list(ONCE), list(ONCE.values())))
