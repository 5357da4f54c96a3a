"""The event log is the state: its replay into an empty database gives the rows that the batches have saved.

Without the trees that were deleted: no event says so, because it is no part of what happened to them.
"""

import json

import psycopg
from psycopg.conninfo import make_conninfo

from vivero.core.records.codec import decode_events
from vivero.core.replay import Recorded, apply_row
from vivero.core.state import batches
from vivero.core.state.state import State
from vivero.storage.postgres import driver
from vivero.storage.retention import history
from vivero.storage.schema.migrate import migrate
from vivero.storage.state.saved_rows import statements_for_rows

ROWS = 400
"""Rows of the event log that are applied before the changed rows are saved."""
LOG = """
    SELECT position, to_epoch_ms(processed_at), coalesce(events, large_events)
    FROM event_log WHERE partition_id = %s ORDER BY position, seq"""

TABLES = {
    "process_instances": ["version"],
    "element_instances": [],
    "variables": [],
    "loop_items": [],
    "jobs": [
        *("ready", "returned", "available_at", "lease_token", "expiries", "worker", "suspended_ready"),
        "suspended_until",
    ],
    "timers": [],
    "incidents": [],
    "user_tasks": [],
    "subscriptions": [],
    "channel_subscriptions": [],
    "start_locks": [],
    "messages": [],
    "message_correlations": [],
    "compensations": [],
    "decision_instances": [],
    "start_subscriptions": [],
    "process_definitions": [],
    "forms": [],
    "generic_resources": [],
    "decision_requirements": [],
    "decision_definitions": [],
    "deployments": [],
}
"""Table → columns that are no part of replay: a tree's version counts batches, and activation owns a job's lease."""

BESIDES = {"messages": " WHERE deadline_ms > 0"}
"""Table → the rows that count: those that an erasure let expire are deleted beside the log, as all that expire are."""


async def check(dsn):
    """Fail unless replay gives the tables. Returns how many rows were compared."""
    return compare(dsn, await replay_into_copy(dsn))


async def replay_into_copy(dsn):
    """The DSN of a database beside this one that has what replay gives."""
    name, schema = "replayed", "schema_of_replayed"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [schema]).fetchall():
            connection.execute(f"CREATE DATABASE {schema} TEMPLATE template0")
        await _migrate(make_conninfo(dsn, dbname=schema))
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {schema}")
        partitions = [row[0] for row in connection.execute("SELECT id FROM partitions ORDER BY id")]
    copy = await driver.connect(make_conninfo(dsn, dbname=name))
    try:
        for partition in partitions:
            await _replay(dsn, copy, partition)
        await _delete_again(dsn, copy)
    finally:
        copy.close()
    return make_conninfo(dsn, dbname=name)


async def _migrate(dsn):
    """Migrate the database that has the schema alone, unless an earlier check has: copies of it cost less."""
    connection = await driver.connect(dsn)
    try:
        await migrate(connection)
    finally:
        connection.close()


async def _delete_again(dsn, copy):
    """Delete the trees of which there are records. All of them have ended, or the deletion was wrong.

    Replay gives nothing of the trees that were erased: their events are empty.
    """
    with psycopg.connect(dsn) as connection:
        reasons = dict(connection.execute("SELECT root_key, reason FROM deleted_trees").fetchall())
    verdicts = await history.delete_trees(copy, list(reasons), history.REQUEST)
    expected = {root: history.UNKNOWN if why == history.ERASURE else history.DELETED for root, why in reasons.items()}
    assert verdicts == expected


async def _replay(dsn, copy, partition):
    state = State(partition)
    with psycopg.connect(dsn) as connection, connection.cursor("log") as cursor:
        cursor.execute(LOG, (partition,))
        while rows := cursor.fetchmany(ROWS):
            for position, now_ms, events in rows:
                apply_row(state, Recorded(position, now_ms, decode_events(events)))
            retained = batches.close(state)
            await copy.pipeline(list(statements_for_rows(state)))
            state.begin_batch()
            batches.committed(state, retained)


def compare(dsn, other):
    """Fail unless both databases have the same rows, besides columns that are no part of replay. How many rows."""
    total = 0
    for table, besides in TABLES.items():
        query = f"SELECT (to_jsonb(t) - %s::text[])::text FROM {table} t{BESIDES.get(table, '')}"
        saved, replayed = ({row[0] for row in _rows(each, query, besides)} for each in (dsn, other))
        missing, surplus = sorted(saved - replayed), sorted(replayed - saved)
        assert not missing + surplus, (
            f"{table}: {len(missing)} rows that replay does not give, {len(surplus)} that it gives besides\n"
            + "\n".join(["columns:", *_columns(missing, surplus), "saved:", *missing[:3], "replayed:", *surplus[:3]])
        )
        total += len(saved)
    assert total, "there is nothing to compare"
    return total


def _columns(saved, replayed):
    """The columns that differ, with both values, of rows that differ in few of them."""
    for one in map(json.loads, saved[:3]):
        other = min(map(json.loads, replayed), key=lambda row: sum(row[name] != one[name] for name in one), default={})
        yield str({name: (one[name], other.get(name)) for name in one if one[name] != other.get(name)})


def _rows(dsn, query, besides):
    with psycopg.connect(dsn) as connection:
        return connection.execute(query, (besides,)).fetchall()
