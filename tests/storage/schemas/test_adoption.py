"""A database of the fifty migrations before the squash is adopted as it is, once, or refused and left alone."""

from dataclasses import replace

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.eventually import eventually_rows
from tests.server_objects import new_database
from tests.storage.schemas.fifty import ADOPTED, FIFTY, as_left, listed
from vivero.storage.access import policies, row_security
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.schema import predecessor
from vivero.storage.schema.migrate import migrate, pending
from vivero.storage.schema.migration_files import SCHEMA_VERSION, Migration, MigrationError, read_migrations

KNOWN = read_migrations()
SQUASHED = [(version, "squashed", "") for version in range(1, predecessor.LAST + 1)]
NEXT = Migration(SCHEMA_VERSION + 1, "next", "CREATE TABLE next_table (n int)", "0" * 64)


@pytest.fixture(scope="module")
def template_of_fifty(postgres_dsn):
    """The name of the database of which each test gets a copy: to make one takes twenty times as long."""
    with new_database(postgres_dsn, "fifty") as dsn:
        yield conninfo_to_dict(as_left(dsn))["dbname"]


@pytest.fixture
def left(postgres_dsn, template_of_fifty):
    with new_database(postgres_dsn, "left", f"TEMPLATE {template_of_fifty} STRATEGY file_copy") as dsn:
        yield dsn


@pytest.fixture
async def connection(left):
    connection = await connect(left)
    yield connection
    connection.close()


async def refused(connection, dsn):
    """The message of the refusal, which changes nothing."""
    before = listed(dsn, "*")
    with pytest.raises(MigrationError) as caught:
        await migrate(connection)
    assert listed(dsn, "*") == before
    assert connection.reusable
    return str(caught.value)


def test_the_fingerprint_is_that_of_the_fifty():
    assert [each.version for each in FIFTY] == list(range(1, predecessor.LAST + 1))
    assert predecessor.fingerprint(FIFTY) == predecessor.FINGERPRINT
    assert [each.version for each in KNOWN][: len(predecessor.SQUASHED)] == list(predecessor.SQUASHED)


async def test_an_adopted_database_has_the_list_of_a_new_one(connection, left, template_database):
    new = make_conninfo(left, dbname=template_database)
    assert await pending(connection) == ADOPTED
    told = []
    assert await migrate(connection, progress=lambda *step: told.append(step)) == ADOPTED
    assert told == [(one, number, len(ADOPTED)) for number, one in enumerate(ADOPTED, 1)]
    assert listed(left) == listed(new) == SQUASHED + [(each.version, each.name, each.sha256) for each in KNOWN]
    assert await pending(connection) == await migrate(connection) == []


async def test_the_last_known_moment_stays(connection, left):
    """Positions after a restore follow from it."""
    before = max(listed(left, "applied_at"))
    await migrate(connection)
    assert max(listed(left, "applied_at")[: -len(ADOPTED[1:]) or None]) == before


def test_a_program_with_the_fifty_counts_more_migrations_than_it_knows(database):
    """It says that the database is newer, whether it was adopted or is new."""
    assert len(listed(database)) == SCHEMA_VERSION > predecessor.LAST


async def test_later_migrations_run_with_the_adoption(connection, left):
    assert await migrate(connection, [*KNOWN, NEXT]) == [*ADOPTED, NEXT]
    assert listed(left)[-1] == (NEXT.version, NEXT.name, NEXT.sha256)
    assert await pending(connection, [*KNOWN, NEXT]) == []


async def test_a_later_migration_that_fails_takes_the_adoption_back(connection, left):
    with pytest.raises(MigrationError, match="_next failed at line 2: column"):
        await migrate(connection, [*KNOWN, replace(NEXT, sql="CREATE TABLE next_table (n int);\nSELECT missing")])
    assert await pending(connection) == ADOPTED


# Refusals

CHANGED = {
    "DROP INDEX jobs_ready": "table jobs: missing: CREATE INDEX jobs_ready ON jobs USING btree",
    "ALTER TABLE jobs ADD COLUMN mine int": "table jobs: unexpected: mine integer",
    "ALTER TABLE jobs ALTER COLUMN retries TYPE bigint": "table jobs: unexpected: retries bigint NOT NULL",
    "ALTER TABLE jobs ALTER COLUMN retries SET DEFAULT 3": "table jobs: unexpected: retries integer DEFAULT 3 NOT NULL",
    "ALTER TABLE jobs ALTER COLUMN retries DROP NOT NULL": "table jobs: unexpected: retries integer",
    "ALTER TABLE jobs DROP COLUMN trace, ADD COLUMN trace int": "table jobs: unexpected: trace integer",
    "ALTER TABLE jobs SET (autovacuum_enabled = false)": "table jobs: unexpected: ) WITH (autovacuum_enabled=false",
    "ALTER TABLE appenders SET LOGGED": "table appenders: unexpected: CREATE TABLE appenders (",
    "ALTER TABLE timers DROP CONSTRAINT timers_state_check": "table timers: missing: CONSTRAINT timers_state_check",
    "CREATE INDEX mine ON jobs (worker)": "table jobs: unexpected: CREATE INDEX mine ON jobs",
    "DROP TRIGGER users_changed ON users": "table users: missing: CREATE TRIGGER users_changed",
    "DROP VIEW engine_state": "view engine_state is missing",
    "ALTER VIEW engine_state RESET (security_invoker)": "view engine_state: unexpected: CREATE VIEW engine_state AS",
    "DROP TABLE stuck_timers": "table stuck_timers is missing",
    "DROP FUNCTION xml_text CASCADE": "view process_definitions_view is missing; function xml_text(document bytea)",
    "ALTER FUNCTION clock_now() VOLATILE": "function clock_now(): missing: STABLE",
    "CREATE OR REPLACE FUNCTION job_period(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS 'SELECT at'": (
        "function job_period(at timestamp with time zone): unexpected: AS $function$SELECT at$function$;"
    ),
}


@pytest.mark.parametrize("statement", CHANGED)
async def test_what_somebody_changed_is_told(module_database, statement):
    connection = await connect(module_database)
    await connection.script(f"BEGIN; {statement}")
    with pytest.raises(MigrationError) as caught:
        await predecessor.compare(connection)
    await connection.script("ROLLBACK")
    connection.close()
    told = str(caught.value)
    assert told.startswith("this database has schema version 50, but somebody has changed it: ")
    assert CHANGED[statement] in told
    assert told.endswith("Undo that, and start again. Nothing was changed")


async def test_a_database_that_somebody_changed_is_refused(connection, left):
    await connection.script("ALTER TABLE jobs ADD COLUMN mine int")
    for table in ("timers", "messages", "subscriptions", "variables", "forms", "batches"):
        await connection.script(f"ALTER TABLE {table} RENAME TO {table}_2")
    assert "table jobs: unexpected: mine integer; table messages is missing; " in await refused(connection, left)
    assert "; and " in await refused(connection, left)


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 13, 49])
async def test_a_database_with_fewer_is_refused_with_what_to_start(connection, left, count):
    as_left(left, FIFTY[:count])
    told = (
        f"the database has schema version {count}, and this program can take over version 50: start Vivero of commit"
        " 414db56b once, which migrates it, and then this version"
    )
    assert await refused(connection, left) == told
    with pytest.raises(MigrationError, match="can take over version 50"):
        await pending(connection)


@pytest.mark.parametrize(
    "applied",
    [[*FIFTY[:-1], replace(FIFTY[-1], sha256="0" * 64)], [*FIFTY, replace(FIFTY[-1], version=51, name="other")]],
    ids=["changed", "more"],
)
async def test_a_database_with_other_migrations_is_refused(connection, left, applied):
    as_left(left, applied)
    assert "are not those of commit 414db56b" in await refused(connection, left)


async def test_a_check_that_refuses_changes_nothing(connection, left):
    async def refuse(_connection, todo):
        assert todo == ADOPTED
        raise LookupError

    with pytest.raises(LookupError):
        await migrate(connection, before=refuse)
    assert await pending(connection) == ADOPTED


# Differences that are allowed


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (n int); CREATE VIEW my_view AS SELECT * FROM jobs",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER TABLE jobs SET (fillfactor = 85); ALTER TABLE variables SET (fillfactor = 90)",
        "SELECT make_partition(2); SELECT make_log_partitions((2::bigint << 51) + 90000000)",
        "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY; COMMENT ON TABLE jobs IS 'mine'",
    ],
)
async def test_what_operators_and_the_program_add_is_no_difference(connection, left, statement):
    await connection.script(statement)
    assert await migrate(connection) == ADOPTED


async def test_a_database_with_row_level_security(connection, left, monkeypatch):
    """With the policies of the tables that there were then."""
    there = {name for (name,) in (await connection.execute("SELECT relname::text FROM pg_class")).rows}
    of_then = {
        table: condition
        for table, condition in policies.POLICIES.items()
        if table in there and "FROM decision_requirements" not in condition
    }
    monkeypatch.setattr(policies, "POLICIES", of_then)
    for names in ("SHARED", "VIEWS"):
        monkeypatch.setattr(policies, names, tuple(name for name in getattr(policies, names) if name in there))
    await row_security.make_reader(connection)
    await row_security.prepare(connection, row_security.reader_of(left))
    assert await migrate(connection) == ADOPTED


async def test_an_installation_in_a_schema_of_its_own(empty_database):
    with psycopg.connect(empty_database, autocommit=True) as other:
        other.execute('CREATE SCHEMA "My app"')
    dsn = make_conninfo(empty_database, options=r'-csearch_path="My\ app"')
    connection = await connect(dsn)
    await migrate(connection)
    as_left(empty_database, schema="My app")
    assert await migrate(connection) == ADOPTED
    connection.close()


# Several at once, and kills


async def test_programs_that_start_at_once_adopt_once(left):
    ran = []

    async def start():
        connection = await connect(left)
        ran.extend(await migrate(connection))
        assert await pending(connection) == []
        connection.close()

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(start)
    assert ran == ADOPTED


@pytest.mark.long
@pytest.mark.parametrize("lock", ["schema_migrations IN SHARE MODE", "pg_trigger"], ids=["rewrites", "compares"])
async def test_an_adoption_that_is_killed_has_done_nothing(connection, left, lock):
    doomed = await connect(left)
    waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'"

    async def die():
        with pytest.raises(ConnectionLost):
            await migrate(doomed)

    with psycopg.connect(left) as other:
        other.execute(f"LOCK TABLE {lock}")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(die)
            await eventually_rows(connection, [(1,)], waits, doomed.backend_pid)
            await connection.execute("SELECT pg_terminate_backend($1)", (doomed.backend_pid,))
    assert [each[2] for each in listed(left)] == [each.sha256 for each in FIFTY]
    assert await migrate(connection) == ADOPTED
