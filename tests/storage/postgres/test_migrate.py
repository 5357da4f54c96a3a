"""Migrations: once each, in order, whole or not at all, whoever starts at the same time."""

from dataclasses import replace

import pytest
import trio

from tests.eventually import eventually_rows
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.schema import migrate as module
from vivero.storage.schema import predecessor
from vivero.storage.schema.migrate import migrate, pending
from vivero.storage.schema.migration_files import SCHEMA_VERSION, MigrationError, read_migrations

FIRST = "CREATE TABLE a (n int);\nINSERT INTO a VALUES (1);\n"
SECOND = """CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*) FROM a);
END $$;
INSERT INTO a SELECT f();
"""


@pytest.fixture
async def connection(empty_database):
    connection = await connect(empty_database)
    yield connection
    connection.close()


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name.removeprefix('v')}.sql").write_text(text, encoding="utf-8")
        return read_migrations(tmp_path)

    return write


@pytest.fixture
def two(files):
    return files(v0001_first=FIRST, v0002_second=SECOND)


async def rows(connection, sql):
    return (await connection.execute(sql)).rows


# Files


def test_the_projects_own_migrations_keep_the_rules():
    first, *_ = migrations = read_migrations()
    assert first.version == predecessor.LAST + 1
    assert [migration.version for migration in migrations] == list(range(first.version, SCHEMA_VERSION + 1))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("v0003_late", "SELECT 1", "0003_late.sql: its number must be 0002"),
        ("v0001_again", "SELECT 1", "0001_first.sql: its number must be 0002"),
        ("v2_short", "SELECT 1", "2_short.sql: rename the migration to the pattern 0001_name.sql"),
        ("v0002_Name", "SELECT 1", "0002_Name.sql: rename the migration"),
        ("v0002_commits", "SELECT 1;\ncommit;\n", "0002_commits.sql:2: remove commit: each migration"),
        ("v0002_begins", "BEGIN;\nSELECT 1;", "0002_begins.sql:1: remove BEGIN: each migration"),
    ],
)
def test_files_that_break_the_rules(files, name, text, message):
    with pytest.raises(MigrationError) as caught:
        files(v0001_first=FIRST, **{name: text})
    assert message in str(caught.value)


def test_no_migrations_at_all(tmp_path):
    with pytest.raises(MigrationError, match="no migrations in"):
        read_migrations(tmp_path)


def test_line_ends_do_not_change_a_checksum(tmp_path, files):
    (unix,) = files(v0001_first=FIRST)
    (tmp_path / "0001_first.sql").write_bytes(FIRST.replace("\n", "\r\n").encode())
    assert read_migrations(tmp_path) == (unix,)


# Running


async def test_everything_runs_once_in_order_and_is_recorded(connection, two):
    told = []
    assert await pending(connection, two) == list(two)
    done = await migrate(connection, two, progress=lambda m, number, total: told.append((str(m), number, total)))
    assert done == list(two)
    assert told == [("0001_first", 1, 2), ("0002_second", 2, 2)]
    assert await rows(connection, "SELECT n FROM a") == [(1,), (1,)]
    recorded = await rows(connection, "SELECT version, name, sha256 FROM schema_migrations ORDER BY version")
    assert recorded == [(m.version, m.name, m.sha256) for m in two]
    assert await pending(connection, two) == []
    assert await migrate(connection, two) == []
    assert connection.reusable


async def test_pending_changes_nothing(connection, two):
    await pending(connection, two)
    assert await rows(connection, "SELECT to_regclass('schema_migrations') IS NULL") == [(True,)]


async def test_only_what_is_new_runs(connection, two):
    await migrate(connection, two[:1])
    assert await migrate(connection, two) == [two[1]]


async def test_a_session_keeps_its_lock_timeout_and_no_lock(connection, two):
    before = await rows(connection, "SHOW lock_timeout")
    await migrate(connection, two)
    assert await rows(connection, "SHOW lock_timeout") == before
    assert await rows(connection, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)]


async def test_a_failing_migration_leaves_nothing_of_itself_and_says_where(connection, files):
    migrations = files(v0001_first=FIRST, v0002_bad="CREATE TABLE b (n int);\n\nSELECT missing;\n")
    with pytest.raises(MigrationError, match=r'migration 0002_bad failed at line 3: column "missing" does not exist'):
        await migrate(connection, migrations)
    assert await rows(connection, "SELECT version FROM schema_migrations") == [(1,)]
    assert await rows(connection, "SELECT to_regclass('b') IS NULL") == [(True,)]
    assert connection.reusable
    repaired = files(v0002_bad="CREATE TABLE b (n int);\n")
    assert await migrate(connection, repaired) == [repaired[1]]


async def test_a_database_that_is_newer_is_refused(connection, two):
    await migrate(connection, two)
    expected = "the database has schema version 0002_second, but this program knows only 0001_first"
    with pytest.raises(MigrationError, match=expected):
        await pending(connection, two[:1])
    with pytest.raises(MigrationError, match=expected):
        await migrate(connection, two[:1])


async def test_a_migration_that_was_changed_after_it_ran_is_refused(connection, two, files):
    await migrate(connection, two)
    changed = files(v0001_first=FIRST + "-- a word more\n")
    with pytest.raises(MigrationError, match="migration 0001_first is not the one that ran in this database"):
        await migrate(connection, changed)


async def test_a_database_from_before_the_first_release_is_refused_with_what_to_do(connection, two):
    await migrate(connection, [replace(two[0], name="kernel")])
    expected = r"first migration is 0001_kernel\)\. It cannot be migrated: use an empty database"
    for call in pending, migrate:
        with pytest.raises(MigrationError, match=expected):
            await call(connection)


async def test_a_migration_that_ends_its_transaction_by_stealth_is_found_out(connection, files):
    migrations = files(v0001_sly="SELECT 1;  COMMIT;\n")
    with pytest.raises(MigrationError, match="0001_sly ended its own transaction"):
        await migrate(connection, migrations)
    assert await rows(connection, "SELECT version FROM schema_migrations") == []


# Several at once


async def test_programs_that_start_at_once_migrate_once(empty_database, two):
    ran = []

    async def start():
        connection = await connect(empty_database)
        ran.extend(await migrate(connection, two))
        assert await pending(connection, two) == []
        connection.close()

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(start)
    assert ran == list(two)


async def test_a_program_that_migrates_for_too_long_is_told_of(connection, empty_database, two):
    holder = await connect(empty_database)
    await holder.execute("SELECT pg_advisory_lock($1)", (module.LOCK_KEY,))
    with pytest.raises(MigrationError, match=r"another program has been migrating this database for more than 0\.05 s"):
        await migrate(connection, two, lock_wait_s=0.05)
    holder.close()
    await migrate(connection, two)


async def test_a_table_in_use_is_named_as_the_cause(connection, empty_database, two, files):
    await migrate(connection, two)
    user = await connect(empty_database)
    await user.execute("BEGIN")
    await user.execute("SELECT * FROM a")
    more = files(v0003_alter="ALTER TABLE a ADD COLUMN m int;")
    with pytest.raises(MigrationError, match="migration 0003_alter could not lock a table"):
        await migrate(connection, more, lock_wait_s=0.05)
    user.close()
    assert [str(m) for m in await migrate(connection, more)] == ["0003_alter"]


async def test_a_migrator_that_is_cancelled_or_killed_leaves_nothing(connection, empty_database, files):
    slow = files(v0001_slow="CREATE TABLE b (n int);\nSELECT pg_sleep(60);\n")
    cancelled = await connect(empty_database)
    with trio.move_on_after(0.1):
        await migrate(cancelled, slow)
    cancelled.close()
    killed = await connect(empty_database)

    async def die():
        with pytest.raises(ConnectionLost):
            await migrate(killed, slow)

    sleeping = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(die)
        await eventually_rows(connection, [(1,)], sleeping, killed.backend_pid)
        await connection.execute("SELECT pg_terminate_backend($1)", (killed.backend_pid,))
    quick = files(v0001_slow="CREATE TABLE b (n int);\n")
    await migrate(connection, quick)


async def test_the_projects_own_migrations_run_on_an_empty_database(connection):
    assert await migrate(connection) == list(read_migrations())
    assert await pending(connection) == []


async def test_a_migration_has_a_time_limit(connection, files):
    slow = files(v0001_slow="SELECT pg_sleep(60);\n")
    with pytest.raises(ConnectionLost):
        await migrate(connection, slow, timeout_s=0.1)
    assert connection.closed
