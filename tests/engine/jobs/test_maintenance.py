"""Maintenance: partitions of the logs ahead, a short cursor, counts added up."""

from contextlib import asynccontextmanager, contextmanager

import psycopg
import pytest

from vivero.engine.jobs.execution import Execution
from vivero.engine.retention import chores
from vivero.engine.retention.chore_settings import MaintenanceSettings
from vivero.engine.retention.chores import ChoreSettings, of_partitions
from vivero.storage.background.job_executions import Run
from vivero.storage.cluster import maintenance
from vivero.storage.postgres.errors import Outage, StorageError


@contextmanager
def reader_of(dsn, *tables):
    """Somebody who reads the tables, as pg_dump does: a long transaction with a lock on each."""
    with psycopg.connect(dsn) as reader:
        reader.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS SHARE MODE")
        for table in tables:
            reader.execute(f"SELECT count(*) FROM {table}")
        yield reader


async def pieces(connection, table="command_log"):
    query = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY inhrelid"
    return [name for (name,) in (await connection.execute(query, (table,))).rows]


async def advance(connection, position):
    await connection.execute("SELECT setval('log_position_1', $1::bigint)", ((1 << 51) + position,))


async def test_partitions_are_made_two_ahead(connection, do_chore):
    before = await pieces(connection)
    assert before == ["command_log_1_0", "command_log_1_1", "command_log_1_2"]
    await do_chore("log-partitions")
    assert await pieces(connection) == before
    await advance(connection, 10_000_001)
    await do_chore("log-partitions", epoch=-1)
    assert await pieces(connection) == before, "another term has begun"
    await do_chore("log-partitions")
    assert await pieces(connection) == [*before, "command_log_1_3"]
    assert await pieces(connection, "event_log") == [f"event_log_1_{number}" for number in range(4)]
    await do_chore("log-partitions")
    assert len(await pieces(connection)) == 4


async def test_partitions_are_made_while_somebody_reads_the_logs(connection, do_chore, migrated):
    await advance(connection, 25_000_000)
    with reader_of(migrated, "command_log", "event_log"):
        await do_chore("log-partitions")
        assert (await pieces(connection))[-1] == "command_log_1_4"


async def test_a_partition_that_was_left_unattached_is_attached(connection, do_chore):
    await connection.execute("CREATE TABLE command_log_1_3 (LIKE command_log INCLUDING ALL)")
    await advance(connection, 10_000_001)
    await do_chore("log-partitions")
    assert (await pieces(connection))[-1] == "command_log_1_3"


async def test_a_partition_has_the_indexes_and_columns_of_the_log(connection, do_chore):
    await advance(connection, 10_000_001)
    await do_chore("log-partitions")
    query = """
        SELECT replace(indexdef, $1, 'piece') FROM pg_indexes WHERE tablename = $1 ORDER BY 1"""

    async def indexes(table):
        rows = (await connection.execute(query, (table,))).rows
        return sorted(text.split(" ON ", 1)[1] for (text,) in rows)

    assert await indexes("event_log_1_3") == await indexes("event_log_1_0")
    invalid = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
    assert (await connection.execute(invalid)).rows == [(0,)]
    attached = (
        "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relname LIKE 'event_log_1_3%'"
    )
    assert (await connection.execute(attached)).rows[0][0] == 1 + len(await indexes("event_log_1_3"))


async def test_nobody_is_waited_for_who_holds_the_log(connection, do_chore, migrated):
    """Others would queue behind a chore that waits. It fails, and is tried again."""
    await advance(connection, 15_000_000)
    with psycopg.connect(migrated) as other:
        other.execute("LOCK TABLE command_log IN SHARE MODE")  # as CREATE INDEX takes it
        with pytest.raises(StorageError, match="lock timeout"):
            await do_chore("log-partitions")
    await do_chore("log-partitions")
    assert (await pieces(connection))[-1] == "command_log_1_3"


async def test_a_position_without_a_partition_is_an_outage_not_the_fault_of_the_command(connection):
    await advance(connection, 30_000_000)
    with pytest.raises(Outage, match="no partition of relation"):
        await connection.execute(
            "INSERT INTO command_log (partition_id, append_id, ord, tenant_id, intent, payload) "
            "VALUES (1, gen_random_uuid(), 1, 't', 'X:Y', '')"
        )


async def test_old_cursor_rows_are_trimmed_but_the_last_thousand(connection, do_chore):
    for first in (1 << 51, (1 << 51) + 3_000):
        await connection.execute(
            "INSERT INTO batches SELECT 1, n, n + 1, 1, 1 FROM generate_series($1::bigint, $1::bigint + 2999) n",
            (first,),
        )
        await do_chore("log-cursor", epoch=-1)
        assert (await connection.execute("SELECT count(*) FROM batches")).rows[0][0] > 3_000, "another term has begun"
        await do_chore("log-cursor")
        rows = (await connection.execute("SELECT from_pos, to_pos FROM batches ORDER BY from_pos")).rows
        assert len(rows) == 1_001
        assert rows[-1] == (first + 2_999, first + 3_000)


async def changes(connection, *rows):
    for row in rows:
        await connection.execute(
            "INSERT INTO element_count_changes (partition_id, process_definition_key, element_id, active, completed, "
            "canceled) VALUES ($1, $2, $3, $4, $5, $6)",
            row,
        )


TOTAL = """
    SELECT partition_id, process_definition_key, element_id, active, completed, canceled
    FROM element_counts ORDER BY 1, 2, 3"""
SUMMED = """
    SELECT partition_id, process_definition_key, element_id, sum(active)::int, sum(completed)::int, sum(canceled)::int
    FROM counted_elements GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"""


async def test_counts_are_the_same_before_and_after_they_are_added_up(connection, do_chore):
    await changes(connection, (1, 5, "a", 1, 0, 0), (1, 5, "a", -1, 1, 0), (1, 5, "", 1, 0, 0), (1, 6, "a", 1, 0, 0))
    before = (await connection.execute(SUMMED)).rows
    assert before == [(1, 5, "", 1, 0, 0), (1, 5, "a", 0, 1, 0), (1, 6, "a", 1, 0, 0)]
    assert await maintenance.total_element_counts(connection, 1, await epoch(connection), 3) == 3
    assert (await connection.execute(SUMMED)).rows == before
    await do_chore("element-counts", maintenance=MaintenanceSettings(changes=3))
    assert (await connection.execute(SUMMED)).rows == (await connection.execute(TOTAL)).rows == before
    await changes(connection, (1, 5, "a", 7, 7, 7))
    await do_chore("element-counts")
    assert (1, 5, "a", 7, 8, 7) in (await connection.execute(TOTAL)).rows
    assert (await connection.execute("SELECT count(*) FROM element_count_changes")).rows == [(0,)]


OVER_TIME = """
    SELECT period::text, process_definition_key, sum(started)::int, sum(completed)::int, sum(canceled)::int,
        sum(incidents)::int
    FROM counted_instances GROUP BY 1, 2 ORDER BY 1, 2"""
BY_DAY = "SELECT day::text, bucket, sum(completed)::int FROM counted_instance_durations GROUP BY 1, 2 ORDER BY 1, 2"


async def test_counts_over_time_are_the_same_before_and_after_they_are_added_up(connection, do_chore):
    """A row of an earlier program has neither a time nor a number of starts: it is of now."""
    put = """INSERT INTO element_count_changes (partition_id, process_definition_key, element_id, active, completed,
        canceled, bucket, started, incidents, at) VALUES (1, 5, $1, $2, $3, $4, $5, $6, $7, $8::timestamptz)"""
    early, late = "2026-11-18T23:59:59.999Z", "2026-11-19T00:00:00Z"
    for row in (
        ("", 2, 0, 0, -1, 3, 1, early),  # one of three has moved to another definition
        ("", -1, 1, 0, 9, 0, 0, late),
        ("", 0, 1, 0, 9, 1, 0, late),
        ("", -1, 0, 1, -1, 0, 0, late),
        ("task", 4, 0, 0, -1, 0, 0, late),
        ("", -1, 2, 0, 8, 0, 0, None),
    ):
        await connection.execute(put, row)
    await connection.execute("SET TIME ZONE 'UTC'")
    ((now, day),) = (
        await connection.execute("SELECT usage_period(clock_now())::text, usage_day(clock_now())::text")
    ).rows
    before = (await connection.execute(OVER_TIME)).rows
    assert before == sorted(
        [
            ("2026-11-18 23:45:00+00", 5, 3, 0, 0, 1),
            ("2026-11-19 00:00:00+00", 5, 1, 2, 1, 0),
            (now, 5, 1, 2, 0, 0),
        ]
    )
    days = (await connection.execute(BY_DAY)).rows
    assert days == sorted([("2026-11-19 00:00:00+00", 9, 2), (day, 8, 2)])
    assert await maintenance.total_element_counts(connection, 1, await epoch(connection), 4) == 4
    assert ((await connection.execute(OVER_TIME)).rows, (await connection.execute(BY_DAY)).rows) == (before, days)
    await do_chore("element-counts")
    assert ((await connection.execute(OVER_TIME)).rows, (await connection.execute(BY_DAY)).rows) == (before, days)
    assert (await connection.execute("SELECT count(*) FROM element_count_changes")).rows == [(0,)]


DURATIONS = "SELECT element_id, bucket, completed::int, duration_ms::int FROM element_durations ORDER BY 1, 2"
COUNTED_DURATIONS = """
    SELECT element_id, bucket, sum(completed)::int, sum(duration_ms)::int FROM counted_durations
    GROUP BY 1, 2 ORDER BY 1, 2"""


async def test_durations_are_the_same_before_and_after_they_are_added_up(connection, do_chore):
    put = """INSERT INTO element_count_changes (partition_id, process_definition_key, element_id, active, completed,
        canceled, bucket, duration_ms) VALUES (1, 5, $1, 0, $2, 0, $3, $4)"""
    for row in (("a", 2, 8, 17), ("a", 1, 9, 9), ("a", 0, -1, 0), ("", 1, 8, 8), ("a", 3, 8, 26)):
        await connection.execute(put, row)
    before = (await connection.execute(COUNTED_DURATIONS)).rows
    assert before == [("", 8, 1, 8), ("a", 8, 5, 43), ("a", 9, 1, 9)]
    assert await maintenance.total_element_counts(connection, 1, await epoch(connection), 4) == 4
    assert (await connection.execute(COUNTED_DURATIONS)).rows == before
    await do_chore("element-counts")
    assert (await connection.execute(DURATIONS)).rows == (await connection.execute(COUNTED_DURATIONS)).rows == before


JOB_COUNTS = "SELECT period::text, type, worker, status, sum(jobs)::int, max(last_at)::text FROM {} GROUP BY 1, 2, 3, 4"


async def test_counts_of_jobs_are_the_same_before_and_after_they_are_added_up(connection, do_chore):
    put = """INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
        VALUES (1, 't', $1, $2, 'COMPLETED', $3, clock_now() - $4::float8 * interval '1 minute')"""
    for row in (
        ("a", "w", 2, 60.0),
        ("a", "w", 3, 60.0),
        ("a", "v", 1, 60.0),
        ("b", "w", 1, 90.0),
        ("a", "w", 4, 60.0),
    ):
        await connection.execute(put, row)
    before = sorted((await connection.execute(JOB_COUNTS.format("counted_jobs"))).rows)
    assert sum(row[4] for row in before) == 11
    assert await maintenance.total_element_counts(connection, 1, await epoch(connection), 4) == 4
    assert sorted((await connection.execute(JOB_COUNTS.format("counted_jobs"))).rows) == before
    await do_chore("element-counts")
    assert sorted((await connection.execute(JOB_COUNTS.format("job_counts"))).rows) == before
    assert (await connection.execute("SELECT count(*) FROM job_count_changes")).rows == [(0,)]


async def test_counts_of_jobs_are_kept_for_thirty_days(connection, do_chore):
    put = """INSERT INTO job_count_changes (partition_id, tenant_id, type, worker, status, jobs, last_at)
        VALUES (1, 't', $1, 'w', 'COMPLETED', 1, clock_now() - $2::float8 * interval '1 day')"""
    for row in (("old", 31.0), ("kept", 29.0), ("new", 0.0)):
        await connection.execute(put, row)
    await do_chore("element-counts")
    assert (await connection.execute("SELECT type FROM job_counts ORDER BY 1")).rows == [("kept",), ("new",)]


async def epoch(connection):
    return (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]


async def test_counts_of_another_partition_or_term_are_left_alone(connection, do_chore):
    await connection.execute("INSERT INTO partitions (id) VALUES (2)")
    await changes(connection, (2, 5, "a", 1, 0, 0))
    await do_chore("element-counts")
    await do_chore("element-counts", partition=2, epoch=-1)
    assert (await connection.execute("SELECT count(*) FROM element_count_changes")).rows == [(1,)]
    assert (await connection.execute(SUMMED)).rows == [(2, 5, "a", 1, 0, 0)]


async def test_chores_that_follow_the_log_rest_while_it_stands_still(connection, monkeypatch):
    """A look a minute stays, because another process may handle the commands."""
    lent, positions = [], {}
    monkeypatch.setattr(chores, "STILL_S", 1e12)

    @asynccontextmanager
    async def lends():
        lent.append(1)
        yield connection

    known = of_partitions(ChoreSettings(), lends, positions).definitions

    async def looks(epoch):
        """The names of the chores that ask PostgreSQL."""
        found = []
        for name in ("log-partitions", "log-cursor", "element-counts", "variable-values"):
            before = len(lent)
            run = Run("id", name, 0, None, None, 1, "lease", 0, 0, 0, epoch)
            await known[f"vivero.{name}"].handler(Execution(run))
            found += [name] if len(lent) > before else []
        return found

    (epoch,) = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0]
    following = ["log-partitions", "log-cursor"]
    assert await looks(epoch) == [*following, "element-counts", "variable-values"]
    assert await looks(epoch) == [*following, "element-counts"], "no progress is known"
    positions[1] = 7
    assert await looks(epoch) == [*following, "element-counts"]
    assert await looks(epoch) == ["element-counts"]
    positions[1] = 8
    assert await looks(epoch) == [*following, "element-counts"]
    assert await looks(epoch + 1) == [*following, "element-counts", "variable-values"]
    assert await looks(epoch + 1) == ["element-counts"]
    monkeypatch.setattr(chores, "STILL_S", 1e-6)
    assert await looks(epoch + 1) == [*following, "element-counts"], "the time is over"
