"""Each test gets a database like a new one, whatever the tests before it have done (tests/databases.py)."""

import re
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
import trio

from tests.databases import LARGE_BYTES, Databases
from tests.server_objects import new_database, new_role
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import StorageError

INSERT = "INSERT INTO tenants (tenant_id, name) VALUES ('a', '{}')"
ALTER = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I {}', current_database()); END $$"
MANY = LARGE_BYTES // 100
RELATIONS = "SELECT relname::text FROM pg_class WHERE relkind = ANY(%s) AND relnamespace = 'public'::regnamespace"
CLEARED = {
    "an inserted row": INSERT.format("A"),
    "deleted rows": "DELETE FROM clock",
    "changed rows": "UPDATE clock SET revision = 7",
    "a row, inserted and deleted": f"{INSERT.format('A')}; DELETE FROM tenants",
    "keys taken": "SELECT nextval(format('%I', sequencename)) FROM pg_sequences",
    "an open transaction": f"BEGIN; {INSERT.format('A')}; LOCK tenants",
}
NOT_REUSED = {
    "a new table": "CREATE TABLE left_behind (n int)",
    "an emptied table": "TRUNCATE tenants CASCADE",
    "a trigger that is disabled": "ALTER TABLE tenants DISABLE TRIGGER ALL",
    "rights": "GRANT SELECT ON tenants TO PUBLIC",
    "statistics": f"{INSERT.format('A')}; ANALYZE tenants",
    "a setting of the database": ALTER.format("SET jit = on"),
    "a limit of the database": ALTER.format("CONNECTION LIMIT 20"),
    "a large table": f"INSERT INTO tenants (tenant_id, name) SELECT n, '{'n' * 99}' FROM generate_series(1, {MANY}) n",
    "all sessions ended": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'emptying'",
}


@pytest.fixture(scope="module")
def made(administration, postgres_dsn, template_database, reuse):
    made = Databases(administration, postgres_dsn, template_database, reuse)
    yield made
    made.close()


def contents(dsn):
    """The rows of all tables, and the state of all sequences."""
    with psycopg.connect(dsn) as connection:
        tables, sequences = (
            [name for (name,) in connection.execute(RELATIONS, ([kind],)).fetchall()] for kind in ("r", "S")
        )
        rows = {name: connection.execute(f"SELECT t::text FROM {name} t ORDER BY 1").fetchall() for name in tables}
        return rows | {
            name: connection.execute(f"SELECT last_value, is_called FROM {name}").fetchall() for name in sequences
        }


@pytest.mark.parametrize("done", CLEARED)
def test_a_database_is_emptied(made, done):
    with made.one() as first:
        new = contents(first)
        session = psycopg.connect(first, autocommit=True)
        session.execute(CLEARED[done])
    with made.one() as second:
        assert second == first
        assert contents(second) == new
    with pytest.raises(psycopg.OperationalError):
        session.execute("SELECT")
    session.close()


@pytest.mark.parametrize("done", NOT_REUSED)
def test_a_database_that_has_changed_otherwise_is_not_used_again(made, done):
    with made.one() as first:
        session = psycopg.connect(first, autocommit=True)
        session.execute(NOT_REUSED[done])
    with made.one() as second:
        assert second != first
    session.close()


def test_a_new_database_has_no_other_session(made):
    with made.one():
        pass
    with made.new() as dsn, psycopg.connect(dsn) as connection:
        sessions = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        assert sessions.fetchone() == (1,)


@pytest.mark.parametrize("done", ["an inserted row", "changed rows", "keys taken"])
def test_a_kept_session_goes_on_in_a_database_like_a_new_one(made, done):
    with made.one() as first:
        new = contents(first)
        session = made.sessions(first).of_rows()
        session.execute(CLEARED[done])
        session.execute("SET jit_above_cost = 7; SELECT pg_advisory_lock(7)")
    with made.one() as second:
        assert second == first
        assert contents(second) == new
        assert made.sessions(second).of_rows() is session
        assert session.execute("SHOW jit_above_cost").fetchone() == ("100000",)
        with psycopg.connect(second) as other:
            assert other.execute("SELECT pg_try_advisory_lock(7)").fetchone() == (True,)


async def backend_of(sessions, dsn, statements):
    """The number of the session of a pool that has run the statements."""
    with sessions.pool(dsn) as pool:
        async with pool.connection() as connection:
            await connection.script(statements)
            return connection.backend_pid


def test_the_sessions_of_a_pool_are_kept(made):
    with made.one() as first:
        new = contents(first)
        pid = trio.run(backend_of, made.sessions(first), first, INSERT.format("A"))
    with made.one() as second:
        assert second == first
        assert contents(second) == new
        assert trio.run(backend_of, made.sessions(second), second, "SELECT") == pid


STATE = """
    SELECT pg_backend_pid(), current_setting('enable_seqscan'), (SELECT count(*)::int FROM pg_listening_channels()),
        (SELECT count(*)::int FROM pg_prepared_statements WHERE name = 'one')"""


async def state_of(dsn, statements):
    """The state in which a session begins, before it runs the statements."""
    connection = await driver.connect(dsn)
    (state,) = (await connection.execute(STATE)).rows
    await connection.script(statements)
    connection.close()
    return state


def test_a_session_that_is_used_again_is_like_a_new_one(made):
    left = f"PREPARE one AS SELECT 1; LISTEN nobody; SET enable_seqscan = off; {INSERT.format('A')}"
    with made.one() as first:
        new = contents(first)
        state = trio.run(state_of, first, left)
    assert state[1:] == ("on", 0, 0)
    with made.one() as second:
        assert second == first
        assert contents(second) == new
        assert trio.run(state_of, second, "SELECT") == state


@pytest.mark.parametrize("left", ["BEGIN", "SELECT pg_terminate_backend(pg_backend_pid())"])
def test_a_session_that_cannot_go_on_ends(made, left):
    with made.one() as first:
        session = made.sessions(first).of_rows()
        with suppress(psycopg.OperationalError):
            session.execute(left)
        pid = trio.run(backend_of, made.sessions(first), first, "BEGIN")
    with made.one() as second:
        assert second == first
        assert session.closed
        assert made.sessions(second).of_rows().execute("SELECT 1").fetchone() == (1,)
        assert trio.run(backend_of, made.sessions(second), second, "SELECT") != pid


MUST_END = {
    "the leader's": "UPDATE partitions SET owner_pid = pg_backend_pid()",
    "a node's": """
        INSERT INTO nodes (id, roles, version, schema, host, port, address, pid, backend_start)
        SELECT 'a', '{}', '1', 1, 'h', 1, 'a', pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()""",
    "one in a transaction": "BEGIN",
    "one of nobody": "SELECT pg_terminate_backend(pg_backend_pid())",
}


@pytest.mark.parametrize("left", MUST_END)
def test_a_session_that_others_know_or_that_is_busy_ends(made, left):
    with made.one() as dsn:
        pid, *_ = trio.run(began, dsn, MUST_END[left])
        assert trio.run(began, dsn, "SELECT")[0] != pid


def test_a_session_that_rests_has_another_name_and_no_lock(made):
    with made.one() as dsn:
        pid, name = trio.run(began, dsn, "SELECT pg_advisory_lock(7)", "one")
        with psycopg.connect(dsn) as other:
            rests = other.execute("SELECT application_name FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone()
            assert (name, rests) == ("one", ("resting",))
            assert other.execute("SELECT pg_try_advisory_lock(7)").fetchone() == (True,)
        assert trio.run(began, dsn, "SELECT", "two") == (pid, "two")


def test_a_session_that_was_ended_while_it_rested_does_not_begin_again(made):
    with made.one() as dsn:
        pid, *_ = trio.run(began, dsn, "SELECT")
        with psycopg.connect(dsn, autocommit=True) as other:
            assert other.execute("SELECT pg_terminate_backend(%s)", (pid,)).fetchone() == (True,)
        assert trio.run(began, dsn, "SELECT")[0] != pid


def test_sessions_begin_anew_in_a_pause(made, reuse):
    with made.one() as dsn:
        pids = [trio.run(began, dsn, "SELECT")[0]]
        with reuse.paused():
            pids += [trio.run(began, dsn, "SELECT")[0] for _ in range(2)]
        assert len(set(pids)) == 3


async def began(dsn, statements, name="test"):
    """The backend and the name of a session that has run the statements and is closed."""
    connection = await driver.connect(dsn, name=name)
    ((shown,),) = (await connection.execute("SELECT current_setting('application_name')")).rows
    with suppress(StorageError):
        await connection.script(statements)
    connection.close()
    return connection.backend_pid, shown


MAKES = re.compile(r"CREATE (ROLE|DATABASE|USER|TABLESPACE)\b")
MAKERS = {
    "tests/server_objects.py": "their place",
    "tests/conftest.py": "the template",
    "tests/databases.py": "copies of the template, by number",
    "tests/chaos/replayed.py": "a later check reuses it, or drops it first",
    "tests/engine/apart.py": "the roles of partitions, if they are not there",
    "tests/storage/test_row_security.py": "the roles of the program, if they are not there",
    "tests/replicas.py": "a server of the test's own",
    "tests/process/test_backups.py": "a server of the test's own",
    "tests/process/test_outages.py": "a server of the test's own",
    "tests/storage/postgres/test_checks.py": "a message names the statement",
}
"""The files that make what all databases of a server have, and why a failed try does not keep the next from passing."""


def test_what_all_databases_have_is_made_in_one_place():
    """A role or database that a failed try leaves behind would fail each further try."""
    root = Path(__file__).parents[1]
    found = {path for path in (root / "tests").rglob("*.py") if MAKES.search(path.read_text())}
    assert {str(path.relative_to(root)) for path in found} - {str(Path(__file__).relative_to(root))} == set(MAKERS)


@pytest.mark.parametrize("make", [new_role, new_database], ids=lambda make: make.__name__)
def test_a_failed_try_leaves_nothing_on_the_server(postgres_dsn, make):
    def names():
        with psycopg.connect(postgres_dsn) as connection:
            return connection.execute("SELECT rolname FROM pg_roles UNION SELECT datname FROM pg_database").fetchall()

    before, seen = set(names()), []
    for _ in range(2):
        with suppress(AssertionError), make(postgres_dsn, "of a try") as made:
            seen.append(made)
            assert set(names()) == before
    assert len({*seen}) == 2
    assert set(names()) == before


def test_a_role_goes_with_what_it_owns_and_may_do(database):
    """A session of its own that is open does not keep it, either."""
    with new_role(database, "owner") as owner, psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"GRANT CREATE ON SCHEMA public TO {owner}")
        connection.execute(f"SET ROLE {owner}")
        connection.execute("CREATE TABLE of_the_role (n int)")
        connection.execute("RESET ROLE")
        connection.execute(f"ALTER DATABASE {connection.info.dbname} OWNER TO {owner}")
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [owner]).fetchall() == []
