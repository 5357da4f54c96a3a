"""Row-level security alone: raw statements of the second role see the rows of the named tenants only."""

import psycopg
import pytest
import trio

from tests.api.rows import KEY, Rows
from tests.server_objects import drop_role, unused_name
from tests.two_tenants import OTHER, fill, log_command
from vivero.storage.access import row_security
from vivero.storage.access.policies import POLICIES, SHARED, VIEWS
from vivero.storage.access.tenants import scope
from vivero.storage.postgres import driver
from vivero.storage.schema import migrate

SEVERAL = {
    "process_instances": 2,
    "command_log": 2,
    "event_log": 2,
    "message_subscriptions": 2,
    "element_counts": 2,
    "counted_elements": 3,
    "counted_jobs": 2,
    "resources": 4,
    "process_instances_view": 2,
    "command_log_view": 2,
}
"""The number of rows that `fill` puts, where it is not one."""
TABLES = sorted({*POLICIES, *VIEWS})


async def separated(dsn):
    connection = await driver.connect(dsn, name="vivero test")
    try:
        await row_security.make_reader(connection)
        await row_security.prepare(connection, row_security.reader_of(dsn))
        assert await row_security.unprotected(connection, row_security.READER) == []
    finally:
        connection.close()


@pytest.fixture(scope="module")
def filled(module_database):
    with psycopg.connect(module_database, autocommit=True) as connection:
        for key, tenant in ((KEY, "a"), (OTHER, "b")):
            fill(Rows(connection), key, tenant)
    trio.run(separated, module_database)
    return module_database


@pytest.fixture
async def reader(filled):
    connection = await driver.connect(row_security.reader_of(filled), name="vivero test")
    yield connection
    connection.close()


async def rows_seen(reader):
    """The number of rows that the reader sees, by table."""
    return {table: (await reader.execute(f"SELECT count(*) FROM {table}")).rows[0][0] for table in TABLES}


@pytest.mark.parametrize(
    ("tenants", "count"), [(["a"], 1), (["b"], 1), (["a", "b"], 2), (["c"], 0), ([], 0), (["*"], 0), (["a,b"], 0)]
)
async def test_a_table_has_the_rows_of_the_tenants(reader, tenants, count):
    with reader.scoped(scope(tenants)):
        assert await rows_seen(reader) == {table: count * SEVERAL.get(table, 1) for table in TABLES}


async def test_without_tenants_there_are_no_rows(reader):
    nothing = dict.fromkeys(TABLES, 0)
    assert await rows_seen(reader) == nothing
    for table in TABLES:
        count = f"SELECT count(*) FROM {table}"
        with reader.scoped(scope(["a"])):
            await reader.execute(count)
        assert (await reader.execute(count)).rows == [(0,)], f"{table}: the setting is of one transaction"


async def test_the_tenants_hold_for_each_statement_of_a_transaction(reader):
    with reader.scoped(scope(["a"])):
        async with reader.transaction():
            counts = [(await reader.execute("SELECT count(*) FROM jobs")).rows[0][0] for _ in range(2)]
        calls = [("SELECT count(*) FROM jobs", ()), ("SELECT tenant_id FROM jobs", ())]
        assert [result.rows for result in await reader.pipeline(calls)] == [[(1,)], [("a",)]]
    assert counts == [1, 1]


async def test_a_condition_of_the_reader_does_not_see_hidden_rows(reader):
    """A function that raises for a foreign value is not called with it."""
    with reader.scoped(scope(["a"])):
        text = "SELECT count(*) FROM variables WHERE 1 / (tenant_id <> 'b')::int = 1"
        assert (await reader.execute(text)).rows == [(1,)]


async def test_commands_by_key_are_visible_to_those_who_see_what_they_changed(reader, filled):
    with psycopg.connect(filled, autocommit=True) as connection:
        rows = Rows(connection)
        log_command(rows, KEY + 20, "a,b", KEY)
        log_command(rows, KEY + 21, "*", KEY)
        log_command(rows, KEY + 22, "a,b", None)
        log_command(rows, KEY + 23, "*", None)
        seen = {}
        for tenants in ("a", "b", "a,b"):
            with reader.scoped(scope(tenants.split(","))):
                for table in ("command_log", "event_log"):
                    text = f"SELECT position FROM {table} WHERE position >= $1 AND position < $2 ORDER BY 1"
                    found = (await reader.execute(text, (KEY + 20, KEY + 30))).rows
                    seen[tenants, table] = [position - KEY for (position,) in found]
        for table in ("command_log", "event_log"):
            connection.execute(f"DELETE FROM {table} WHERE position BETWEEN {KEY + 20} AND {KEY + 30}")
    for table in ("command_log", "event_log"):
        assert [seen[tenants, table] for tenants in ("a", "b", "a,b")] == [[20, 21], [], [20, 21, 22]]


@pytest.mark.parametrize(
    ("function", "texts"), [("instances_with_tags", ["a"]), ("tasks_of_groups", ["g"]), ("tasks_of_users", ["u"])]
)
async def test_the_functions_of_indexes_give_keys_of_the_tenants(reader, function, texts):
    text = f"SELECT {function}($1)"
    assert (await reader.execute(text, (texts,))).rows == []
    found = {}
    for tenants in ("a", "b", "ab", "c"):
        with reader.scoped(scope(list(tenants))):
            found[tenants] = {key for (key,) in (await reader.execute(text, (texts,))).rows}
    assert found["a"] | found["b"] == found["ab"]
    assert len(found["a"]) == len(found["b"]) > 0
    assert found["c"] == found["a"] & found["b"] == set()


async def test_the_role_may_read_these_tables_and_nothing_else(reader, filled):
    privileges = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    with psycopg.connect(filled) as connection:
        rows = connection.execute(
            "SELECT c.relname, p FROM pg_class c, unnest(%s::text[]) p WHERE c.relkind IN ('r', 'p', 'v')"
            " AND c.relnamespace = 'public'::regnamespace AND has_table_privilege('vivero_reader', c.oid, p)",
            [privileges],
        ).fetchall()
        shared = connection.execute(
            "SELECT DISTINCT table_name FROM information_schema.columns"
            " WHERE table_name = ANY (%s) AND (column_name = 'tenant_id' OR column_name LIKE '%%key')",
            [list(SHARED)],
        ).fetchall()
    assert set(rows) == {(table, "SELECT") for table in (*POLICIES, *SHARED, *VIEWS)}
    assert shared == [], "their rows belong to no tenant"


async def test_the_owner_sees_all_rows(empty_database, postgres_dsn):
    """In a database of the user's: the owner is no superuser, and row-level security is forced on it."""
    owner, reader = driver_url(empty_database, "an_owner"), row_security.reader_of(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        for role in ("an_owner", row_security.READER):
            if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).fetchall():
                connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute("ALTER SCHEMA public OWNER TO an_owner")
    connection = await driver.connect(owner, name="vivero test")
    try:
        await migrate.migrate(connection)
        await row_security.prepare(connection, reader)
        with psycopg.connect(owner, autocommit=True) as sync:
            fill(Rows(sync), KEY, "a")
            for table in TABLES:
                assert sync.execute(f"SELECT count(*) FROM {table}").fetchone() == (SEVERAL.get(table, 1),), table
            assert sync.execute("UPDATE jobs SET retries = 1").rowcount == 1
            sync.execute("ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY")
        assert await row_security.unprotected(connection, row_security.READER) == ["jobs"]
        await row_security.prepare(connection, reader)
        assert await row_security.unprotected(connection, row_security.READER) == []
        with pytest.raises(row_security.NotSeparated, match=r"does not hold for the role 'an_owner'.*vivero db roles"):
            await row_security.prepare(connection, owner)
    finally:
        connection.close()


def driver_url(dsn, user):
    return psycopg.conninfo.make_conninfo(dsn, user=user)


async def test_a_role_that_is_missing_is_a_problem_with_an_advice(database):
    connection = await driver.connect(database, name="vivero test")
    try:
        with pytest.raises(row_security.NotSeparated, match=r"second role.*`vivero db roles`"):
            await row_security.prepare(connection, driver_url(database, "nobody_such"))
        with pytest.raises(row_security.NotSeparated, match=r"does not hold.*vivero db roles"):
            await row_security.prepare(connection, database)
    finally:
        connection.close()


async def test_the_sql_of_the_roles_makes_a_role_that_fits(postgres_dsn, database):
    connection = await driver.connect(database, name="vivero test")
    try:
        name = unused_name("another reader")
        sql = await row_security.roles_sql(connection, name, "it's")
        with psycopg.connect(database, autocommit=True) as sync:
            sync.execute(sql)
        try:
            await row_security.prepare(connection, driver_url(database, name))
        finally:
            drop_role(database, name)
    finally:
        connection.close()
