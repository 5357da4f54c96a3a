"""A database may have any schema that a program has left: each is read before it is migrated, adopted or refused."""

import psycopg
import pytest

from tests.eventually import eventually_rows
from tests.server_objects import new_database
from tests.storage.schemas.fifty import ADOPTED, FIFTY, as_left
from vivero.config.sources import load
from vivero.engine.cluster.versions import IncompatibleVersion
from vivero.operations import backups
from vivero.operations.doctor import judge
from vivero.program.database import pending, prepare
from vivero.storage.cluster import nodes
from vivero.storage.postgres.driver import connect
from vivero.storage.reads import diagnosis
from vivero.storage.retention import backups as queries
from vivero.storage.schema import predecessor
from vivero.storage.schema.migrate import CREATE_TABLE, migrate
from vivero.storage.schema.migration_files import read_migrations

MIGRATIONS = read_migrations()
NODES, INSTANCES = 3, 6
"""The number of migrations that have run when the tables `nodes` and `process_instances` are made."""
CONFIG = load(environment={}, flags={"database.allow_unsafe_commits": True})
RUNS = """INSERT INTO nodes (id, roles, version, schema, host, port, pid, backend_start)
SELECT 'n', '{api}', $1, 13, 'host', 8080, pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"""


def silent(_what, _done, _total):
    """No progress bar."""


def version(count):
    """The schema version after so many migrations."""
    return MIGRATIONS[count - 1].version if count else 0


async def killed_in(migration, dsn):
    """Run a migration without its commit, as a program that is killed does."""
    doomed = await connect(dsn)
    await doomed.script(CREATE_TABLE)
    await doomed.execute("BEGIN")
    await doomed.script(migration.sql)
    doomed.abort()


async def look(connection, count):
    """All that programs and commands read before a migration."""
    assert await nodes.running(connection) == []
    facts = await diagnosis.read(connection, 0.0)
    assert (facts.schema or 0) == version(count)
    assert judge(facts)
    assert await queries.owns_the_tables(connection) is (True if count >= INSTANCES else None)
    assert set((await queries.counts(connection)).values()) <= {0}


@pytest.mark.long
async def test_every_schema_is_read_and_goes_on_after_a_kill_in_the_next_migration(empty_database):
    connection = await connect(empty_database)
    for count, migration in enumerate(MIGRATIONS):
        await look(connection, count)
        await killed_in(migration, empty_database)
        assert await migrate(connection, MIGRATIONS[: count + 1]) == [migration]
    await look(connection, len(MIGRATIONS))
    connection.close()


async def test_the_schema_before_the_squash_is_read_and_adopted(database):
    left = as_left(database)
    connection = await connect(left)
    await connection.execute("INSERT INTO retention_clocks (partition_id, at) VALUES (1, now())")
    facts = await diagnosis.read(connection, 0.0)
    assert (facts.schema, len(facts.retention)) == (predecessor.LAST, 1)
    assert any("Run: vivero migrate" in str(finding) for finding in judge(facts))
    assert await pending(left, CONFIG) == ADOPTED
    await prepare(left, CONFIG)
    assert await pending(left, CONFIG) == []
    connection.close()


@pytest.mark.parametrize("count", [0, NODES])
async def test_a_program_prepares_an_old_schema(empty_database, count):
    connection = await connect(empty_database)
    if count:
        await migrate(connection, MIGRATIONS[:count])
    assert await pending(empty_database, CONFIG) == list(MIGRATIONS[count:])
    await prepare(empty_database, CONFIG)
    assert await pending(empty_database, CONFIG) == []
    connection.close()


@pytest.mark.long
@pytest.mark.parametrize("left", [True, False], ids=["fifty", "unfinished"])
async def test_a_node_that_does_not_fit_is_found_by_every_schema(database, empty_database, left):
    """The old schema stays: that node works on it."""
    dsn = as_left(database) if left else empty_database
    connection = await connect(dsn)
    if not left:
        await migrate(connection, MIGRATIONS[:NODES])
    await connection.execute(RUNS, ("9.9.9",))
    with pytest.raises(IncompatibleVersion, match=r"the node n at host:8080 runs version 9\.9\.9"):
        await prepare(dsn, CONFIG)
    assert await pending(dsn, CONFIG) == (ADOPTED if left else list(MIGRATIONS[NODES:]))
    connection.close()


BEFORE_WORK_ITEMS = MIGRATIONS[: next(at for at, one in enumerate(MIGRATIONS) if one.version == 94)]


async def test_a_migration_that_runs_alone_is_refused_while_a_node_runs(empty_database):
    """The node would miss work items that this program keeps in their own rows."""
    connection, other = await connect(empty_database), await connect(empty_database)
    await migrate(connection, BEFORE_WORK_ITEMS)
    await other.execute(RUNS, ("0.1.0",))
    with pytest.raises(IncompatibleVersion, match=r"migration 0094_work_items runs alone.*Running: n at host:8080"):
        await prepare(empty_database, CONFIG)
    assert (await pending(empty_database, CONFIG))[0].version == 94
    other.close()
    await eventually_rows(connection, [(0,)], "SELECT count(*) FROM nodes JOIN pg_stat_activity USING (pid)")
    await prepare(empty_database, CONFIG)
    assert await pending(empty_database, CONFIG) == []
    connection.close()


async def there_and_back(source, target, directory):
    """Back up a database, and restore it with this program."""
    manifest = await backups.take(source, directory, jobs=2, progress=silent)
    assert backups.read_manifest(directory) == manifest
    await backups.restore(target, directory, manifest, silent)
    await prepare(target, CONFIG)
    assert await pending(target, CONFIG) == []
    return manifest


@pytest.fixture
def target(empty_database):
    """A second empty database."""
    with new_database(empty_database, "restored_schema") as dsn:
        yield dsn


@pytest.mark.long
async def test_a_backup_of_an_unfinished_installation_is_restored(empty_database, target, tmp_path):
    connection = await connect(empty_database)
    await migrate(connection, MIGRATIONS[:INSTANCES])
    connection.close()
    manifest = await there_and_back(empty_database, target, tmp_path / "backup")
    assert manifest.schema == version(INSTANCES)


@pytest.mark.long
async def test_a_backup_of_the_schema_before_the_squash_is_restored_and_adopted(database, target, tmp_path):
    manifest = await there_and_back(as_left(database), target, tmp_path / "backup")
    assert manifest.schema == predecessor.LAST


async def test_a_backup_of_an_older_schema_is_refused_with_what_to_start(database, tmp_path):
    await backups.take(as_left(database, FIFTY[:13]), tmp_path / "backup", jobs=2, progress=silent)
    told = "version 13, and this program can take over version 50: restore it and start Vivero of commit 414db56b once"
    with pytest.raises(backups.BackupProblem, match=told):
        backups.read_manifest(tmp_path / "backup")


@pytest.mark.long
async def test_a_backup_of_every_schema_is_restored(empty_database, target, tmp_path):
    connection = await connect(empty_database)
    for count in range(INSTANCES, len(MIGRATIONS) + 1):
        await migrate(connection, MIGRATIONS[:count])
        with psycopg.connect(target, autocommit=True) as other:
            other.execute("DROP SCHEMA public CASCADE")
            other.execute("CREATE SCHEMA public")
        await there_and_back(empty_database, target, tmp_path / f"backup-{count}")
    connection.close()
