"""Trees of ended instances are deleted whole, or not at all; nothing that runs, waits or is referred to is touched."""

import random
import re
from pathlib import Path

import psycopg
import pytest

from tests.chaos import replayed
from tests.core import event_models
from tests.core.models import end, start
from tests.engine.consumer.serial_runs import NO_STATE
from tests.engine.whole_engine import WholeEngine
from tests.eventually import eventually, eventually_blocked
from tests.storage.schemas import running_instances
from tests.storage.schemas.running_instances import PAGED, values
from vivero.core.records.instances import CreateInstance
from vivero.storage.postgres import driver
from vivero.storage.retention import history

KEPT = {
    *(*NO_STATE, "deleted_trees", "retention_clocks", "outbox_deliveries", "batch_operation_items", "audit_log"),
    *("deleted_usage", "deleted_assignees", "usage_secret"),
}
"""Tables whose rows are no part of a tree: logs, counts, other peoples' work."""
NESTED = event_models.model(start(), event_models.call("call", "calling"), end(), "start > call > end", id="nested")
IDS = (
    "jobs",
    "joined",
    "waiting",
    "guarding",
    "watching",
    "calling",
    "nested",
    "loop",
    "decided",
    "rescued",
    "signalled",
)
EXTRA = 12
OF_TREES = (
    *("process_instances", "element_instances", "variables", "jobs", "incidents", "user_tasks", "subscriptions"),
    *(
        "compensations",
        "decision_instances",
        "message_correlations",
        "loop_items",
        "paged_loop_items",
        "work_items",
        "channel_subscriptions",
        "start_locks",
    ),
)


def rows_by_tree(connection):
    """Root → the rows of its tree, of all tables, as text; None → all others."""
    tables = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    roots = dict(connection.execute("SELECT process_instance_key, root_key FROM process_instances").fetchall())
    scopes = dict(connection.execute("SELECT element_instance_key, root_key FROM element_instances").fetchall())
    opened = dict(connection.execute("SELECT subscription_key, root_key FROM subscriptions").fetchall())
    found = {}
    counts = {table for table in tables if table.startswith(("command_log_", "event_log_", "job_", "element_"))}
    for table in tables - KEPT - counts | {"element_instances"}:
        for (row,) in connection.execute(f"SELECT to_jsonb(t) FROM {table} t").fetchall():
            root = row.get("root_key") or roots.get(row.get("process_instance_key")) or scopes.get(row.get("body_key"))
            if table == "channel_subscriptions":
                root = opened.get(row["subscription_key"])
            found.setdefault(root, set()).add(f"{table} {sorted(row.items())}")
    return found


def may_go(connection):
    """The roots of trees that have ended and that nothing refers to, by rows of each table of its own."""
    return {
        root
        for (root,) in connection.execute(
            """
            SELECT root_key FROM process_instances GROUP BY 1 HAVING bool_and(ended_at IS NOT NULL)
            EXCEPT SELECT root_key FROM element_instances WHERE ended_at IS NULL
            EXCEPT SELECT root_key FROM jobs WHERE ended_at IS NULL
            EXCEPT SELECT root_key FROM timers WHERE state = 'PENDING'
            EXCEPT SELECT root_key FROM user_tasks WHERE ended_at IS NULL
            EXCEPT SELECT root_key FROM incidents WHERE resolved_at IS NULL
            EXCEPT SELECT root_key FROM subscriptions WHERE ended_at IS NULL
            EXCEPT SELECT root_key FROM subscriptions JOIN channel_subscriptions USING (subscription_key)
            EXCEPT SELECT root_key FROM start_locks JOIN process_instances USING (process_instance_key)
            """
        )
    }


@pytest.fixture
def sync(migrated):
    with psycopg.connect(migrated, autocommit=True) as connection:
        yield connection


ENDED_ROOTS = """SELECT process_instance_key FROM process_instances
    WHERE process_instance_key = ANY ($1::bigint[]) AND ended_at IS NOT NULL AND parent_process_instance_key IS NULL"""


@pytest.mark.long
async def test_whatever_runs_or_waits_stays_and_the_rest_goes_whole(migrated, sync, seed):
    """Random trees in all states: called instances, messages, timers, loops. Replay gives what is left."""
    rng, gone = random.Random(seed), set()

    async def delete_some(engine):
        if rng.random() < 0.3:
            return
        for unfinished in ("a command that is not processed", "deferred work"):
            await engine.until_value(0, running_instances.KINDS[unfinished])
        with psycopg.connect(migrated) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            free, before = may_go(reader), rows_by_tree(reader)
            known = [key for (key,) in reader.execute("SELECT process_instance_key FROM process_instances")]
        asked = [*rng.sample(known, rng.randint(0, len(known))), 7]
        ended = [root for (root,) in await engine.rows(ENDED_ROOTS, asked)]
        foreseen = await history.foresee(engine.connection, [*ended, 7])
        verdicts = await history.delete_trees(engine.connection, asked, history.REQUEST)
        deleted = {key for key, verdict in verdicts.items() if verdict == history.DELETED}
        assert deleted == free & set(asked)
        assert foreseen == {root: verdicts[root] for root in ended} | {7: history.UNKNOWN}
        assert verdicts[7] == history.UNKNOWN
        after = rows_by_tree(sync)
        assert not deleted & after.keys()
        assert {root: after.get(root) for root in before if root not in deleted | {None}} == {
            root: rows for root, rows in before.items() if root not in deleted | {None}
        }
        gone.update(deleted)

    await running_instances.make(migrated)
    engine = WholeEngine(migrated, consumer_settings=PAGED)
    async with engine.running():
        await engine.deploy(NESTED)
        for _ in range(EXTRA):
            given = values(k=str(rng.randint(1, 3)), items=list(range(rng.randint(0, 3))), approved=True)
            await engine.run(CreateInstance(rng.choice(IDS), variables=given))
        await running_instances.finish(engine, delete_some)
        assert await engine.value("SELECT count(*) FROM process_instances WHERE ended_at IS NULL") == 0
    assert gone
    assert {root for (root,) in sync.execute("SELECT root_key FROM deleted_trees")} == gone
    await replayed.check(migrated)
    leftover = sorted(may_go(sync))
    assert set((await delete(migrated, leftover)).values()) <= {history.DELETED}
    for table in OF_TREES:
        assert sync.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


async def delete(dsn, keys):
    connection = await driver.connect(dsn, name="vivero test")
    try:
        return await history.delete_trees(connection, keys, history.REQUEST)
    finally:
        connection.close()


ROOT, CALLED, OTHER = 1 << 51 | 100, 1 << 51 | 101, 1 << 51 | 200


@pytest.fixture
def tree(sync):
    """An ended instance that has called another one, with a row of each kind."""
    columns = """process_instance_key, root_key, parent_process_instance_key, process_definition_key, created_position,
        version, started_at, ended_at, process_version, depth, live, incidents, interrupted, process_id, tenant_id,
        state, tokens"""
    for key, parent in ((ROOT, None), (CALLED, ROOT)):
        sync.execute(
            f"INSERT INTO process_instances ({columns})"
            " VALUES (%s, %s, %s, 1, 1, 1, now(), now(), 1, 1, 0, 0, false, 'p', 't', 'COMPLETED', '{}')",
            (key, ROOT, parent),
        )
        sync.execute("INSERT INTO variables VALUES (%s, %s, %s, %s, 't', 'x', '1')", (key + 1000, key, key, ROOT))
    return sync


REFERENCES = {
    "a start lock": f"INSERT INTO start_locks VALUES ({CALLED}, default, 't', 'k', 'p')",
    "an undelivered event": "INSERT INTO outbox_deliveries (partition_id, position, seq, ordinal, root_key, type,"
    f" document, state) VALUES (1, 1, 0, 0, {ROOT}, 'X', '', 'dead')",
    "a batch operation": "INSERT INTO batch_operation_items (batch_operation_key, item_key, process_instance_key,"
    f" root_key, type, process_id, tenant_id) VALUES (1, 2, {CALLED}, {ROOT}, 'RESOLVE_INCIDENT', 'p', 't')",
    "RUNNING": f"UPDATE process_instances SET ended_at = NULL WHERE process_instance_key = {CALLED}",
}


@pytest.mark.parametrize("what", REFERENCES)
async def test_what_refers_to_a_tree_keeps_all_of_it(tree, connection, what):
    tree.execute(REFERENCES[what])
    assert await history.foresee(connection, [ROOT, OTHER]) == {ROOT: what, OTHER: "UNKNOWN"}
    verdicts = await history.delete_trees(connection, [ROOT, CALLED, OTHER], history.REQUEST)
    assert verdicts == {ROOT: what, CALLED: "CALLED", OTHER: "UNKNOWN"}
    assert tree.execute("SELECT count(*) FROM variables").fetchone() == (2,)
    assert tree.execute("SELECT count(*) FROM deleted_trees").fetchone() == (0,)


async def test_the_own_batch_operation_and_ended_ones_keep_nothing(tree, connection):
    put = REFERENCES["a batch operation"]
    tree.execute(put.replace("RESOLVE_INCIDENT", "DELETE_PROCESS_INSTANCE"))
    tree.execute(put.replace("VALUES (1, 2", "VALUES (2, 2"))
    tree.execute("UPDATE batch_operation_items SET state = 'COMPLETED' WHERE batch_operation_key = 2")
    assert await history.foresee(connection, [ROOT]) == {ROOT: "DELETED"}
    assert tree.execute("SELECT count(*) FROM variables").fetchone() == (2,)
    assert await history.delete_trees(connection, [ROOT], history.REQUEST) == {ROOT: "DELETED"}
    assert tree.execute("SELECT count(*) FROM variables").fetchone() == (0,)
    assert await history.delete_trees(connection, [ROOT], history.REQUEST) == {ROOT: "UNKNOWN"}
    assert tree.execute("SELECT root_key, reason FROM deleted_trees").fetchall() == [(ROOT, "REQUEST")]


async def test_two_deletions_of_one_tree_come_one_after_the_other(tree, connection, connect, nursery):
    """The second waits for the first, and finds nothing."""
    first, verdicts = await connect(), []

    async def second():
        verdicts.append(await history.delete_trees(connection, [ROOT], history.REQUEST))

    async with first.transaction():
        assert await history.delete_trees(first, [ROOT], history.REQUEST) == {ROOT: "DELETED"}
        nursery.start_soon(second)
        watcher = await connect()
        await eventually_blocked(watcher)
        watcher.close()
    await eventually(lambda: verdicts)
    assert verdicts == [{ROOT: "UNKNOWN"}]
    first.close()


async def test_retention_deletes_in_its_term_only(tree, connection):
    await connection.execute("UPDATE partitions SET epoch = 7 WHERE id = 1")
    assert await history.delete_old_trees(connection, 1, 6, [ROOT]) == {}
    assert await history.advance_clock(connection, 1, 6, 10, 10) is None
    assert await history.delete_old_trees(connection, 1, 7, [ROOT]) == {ROOT: "DELETED"}
    assert tree.execute("SELECT reason FROM deleted_trees").fetchall() == [("RETENTION",)]


SCHEMA = Path(__file__).parents[2] / "storage" / "schema" / "schema.sql"
COLUMNS_OF_TREES = {"root_key", "process_instance_key", "element_instance_key", "body_key"}
"""Columns that refer to a tree."""
STAY = {
    "event_log": "the logs are emptied (`erase_logs`) and go with their age",
    "deleted_trees": "the record of the deletion",
    "archive_erasures": "the record of an erasure from the archive",
    "audit_log": "the record of who did what, with a time to live of its own",
    "batch_operation_items": "a result of the operation, which is deleted as a whole",
    "documents": "they expire with the tree; a chore deletes their contents, too",
    "outbox_deliveries": "events on their way to another system",
    "start_locks": "a lock is released as its instance ends; what waits under a key belongs to no tree",
}
"""Table → why its rows outlive their tree."""


def test_a_deletion_knows_every_table_of_trees():
    schema = SCHEMA.read_text(encoding="utf-8")
    function = re.search(
        r"^CREATE OR REPLACE FUNCTION delete_trees\(.*?\$function\$;", schema, re.MULTILINE | re.DOTALL
    )[0]
    tables = re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+) \((.*?)^\)", schema, re.MULTILINE | re.DOTALL)
    assert len(tables) > 60
    of_trees = {
        name for name, columns in tables if COLUMNS_OF_TREES & set(re.findall(r"^    (\w+)", columns, re.MULTILINE))
    }
    deleted = set(re.findall(r"DELETE FROM (\w+)", function))
    assert of_trees - STAY.keys() == deleted
    assert of_trees >= STAY.keys()
    assert "UPDATE documents" in function
