"""A database may have any schema that a program has left: each is read before it is migrated to the newest."""

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from vivero.config.sections import load
from vivero.engine.cluster.versions import IncompatibleVersion
from vivero.operations import backups
from vivero.operations.doctor import judge
from vivero.program.database import pending, prepare
from vivero.storage.cluster import nodes
from vivero.storage.postgres.driver import connect
from vivero.storage.reads import diagnosis
from vivero.storage.retention import backups as queries
from vivero.storage.schema.migrate import SCHEMA_VERSION, migrate, read_migrations

MIGRATIONS = read_migrations()
NODES, INSTANCES = 13, 6
"""The migrations that made the tables `nodes` and `process_instances`."""
CONFIG = load(environment={}, flags={"database.allow_unsafe_commits": True})
RUNS = """INSERT INTO nodes (id, roles, version, schema, host, port, pid, backend_start)
SELECT 'n', '{api}', $1, 13, 'host', 8080, pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"""


def silent(_what, _done, _total):
    """No progress bar."""


async def killed_in(migration, dsn):
    """Run a migration without its commit, as a program that is killed does."""
    doomed = await connect(dsn)
    await doomed.execute("BEGIN")
    await doomed.script(migration.sql)
    doomed.abort()


async def look(connection, version):
    """All that programs and commands read before a migration."""
    assert await nodes.running(connection) == []
    facts = await diagnosis.read(connection, 0.0)
    assert (facts.schema or 0) == version
    assert judge(facts)
    assert await queries.owns_the_tables(connection) is (True if version >= INSTANCES else None)
    assert set((await queries.counts(connection)).values()) <= {0}


async def test_every_schema_is_read_and_goes_on_after_a_kill_in_the_next_migration(empty_database):
    connection = await connect(empty_database)
    for version, migration in enumerate(MIGRATIONS):
        await look(connection, version)
        await killed_in(migration, empty_database)
        assert await migrate(connection, MIGRATIONS[: version + 1]) == [migration]
    await look(connection, SCHEMA_VERSION)
    connection.close()


@pytest.mark.parametrize("version", [0, NODES])
async def test_a_program_prepares_an_old_schema(empty_database, version):
    connection = await connect(empty_database)
    await migrate(connection, MIGRATIONS[:version])
    assert await pending(empty_database, CONFIG) == list(MIGRATIONS[version:])
    await prepare(empty_database, CONFIG)
    assert await pending(empty_database, CONFIG) == []
    connection.close()


async def test_a_node_that_does_not_fit_is_found_by_every_schema(empty_database):
    """The old schema stays: that node works on it."""
    connection = await connect(empty_database)
    await migrate(connection, MIGRATIONS[:NODES])
    await connection.execute(RUNS, ("9.9.9",))
    with pytest.raises(IncompatibleVersion, match=r"the node n at host:8080 runs version 9\.9\.9"):
        await prepare(empty_database, CONFIG)
    assert len(await pending(empty_database, CONFIG)) == SCHEMA_VERSION - NODES
    connection.close()


async def there_and_back(version, source, target, directory):
    """Back up a schema, and restore it with this program."""
    connection = await connect(source)
    await migrate(connection, MIGRATIONS[:version])
    connection.close()
    manifest = await backups.take(source, directory, jobs=2, progress=silent)
    assert manifest.schema == version
    await backups.restore(target, directory, manifest, silent)
    await prepare(target, CONFIG)
    assert await pending(target, CONFIG) == []


@pytest.fixture
def target(empty_database):
    """A second empty database."""
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored_schema TEMPLATE template0")
        yield make_conninfo(empty_database, dbname="restored_schema")
        connection.execute("DROP DATABASE restored_schema WITH (FORCE)")


async def test_a_backup_of_an_unfinished_installation_is_restored(empty_database, target, tmp_path):
    await there_and_back(INSTANCES, empty_database, target, tmp_path / "backup")


@pytest.mark.long
async def test_a_backup_of_every_schema_is_restored(empty_database, target, tmp_path):
    for version in range(INSTANCES, SCHEMA_VERSION + 1):
        with psycopg.connect(target, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        await there_and_back(version, empty_database, target, tmp_path / f"backup-{version}")
