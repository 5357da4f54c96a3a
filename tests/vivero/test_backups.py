"""`vivero backup` and `vivero restore`: there and back, and whatever is not a whole backup is refused."""

import json
import os
import shutil
from functools import partial

import psycopg
import pytest
import trio
from click.testing import CliRunner
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.server_objects import new_database, new_role
from vivero.cli.server.backup import backup, restore
from vivero.cli.server.db import roles
from vivero.cli.server.doctor import doctor
from vivero.cli.server.migrate import migrate as migrate_command
from vivero.embedded.binaries import BIN_VARIABLE
from vivero.operations import backups
from vivero.operations.backups import BackupProblem
from vivero.operations.dump_tools import Meter, NoTool, run_tool, tool
from vivero.storage.postgres import conninfo, driver
from vivero.storage.schema.migrate import migrate
from vivero.storage.schema.migration_files import SCHEMA_VERSION

UNSAFE = {"VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "true"}


def silent(_what, _done, _total):
    """No progress bar."""


def run(command, *arguments):
    return CliRunner().invoke(command, [str(one) for one in arguments], env=UNSAFE)


@pytest.fixture
def filled(database):
    """A database with the schema and a row of its own."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE cluster SET cluster_id = '00000000-0000-0000-0000-000000000007'")
    return database


@pytest.fixture(scope="module")
def whole_backup(module_database, tmp_path_factory):
    """A backup, which nobody changes."""
    directory = tmp_path_factory.mktemp("whole") / "backup"
    trio.run(partial(backups.take, module_database, directory, jobs=1, progress=silent))
    return directory


@pytest.fixture
def taken(whole_backup, tmp_path):
    """A whole backup of this test alone."""
    return shutil.copytree(whole_backup, tmp_path / "backup")


VALUES = """
    SELECT a, a[2] IS NULL, (SELECT shift = interval '1 hour' * -21 - interval '57 min' FROM clock) FROM of_a_test"""
"""Arrays with NULL and negative intervals would be read as others by sessions with the settings of the database."""


async def test_there_and_back(filled, empty_database, tmp_path):
    execute(
        filled,
        "UPDATE clock SET shift = interval '-1 day +02:03'",
        "CREATE TABLE of_a_test (a text[])",
        "INSERT INTO of_a_test VALUES (ARRAY['NULL', NULL])",
    )
    for dsn in (filled, empty_database):
        name = conninfo_to_dict(dsn)["dbname"]
        for setting in ("array_nulls = off", "IntervalStyle = sql_standard"):
            execute(dsn, f"ALTER DATABASE {name} SET {setting}")
    seen = []
    manifest = await backups.take(filled, tmp_path / "backup", jobs=2, progress=lambda *more: seen.append(more))
    assert {what for what, _, _ in seen} == {"dumping", "verifying"}
    assert seen[-1][1] == seen[-1][2] == manifest.size
    assert (manifest.schema, manifest.cluster[-1]) == (SCHEMA_VERSION, "7")
    assert [path.name for path in tmp_path.iterdir()] == ["backup"]
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700
    assert await backups.verify(tmp_path / "backup", silent) == manifest
    await backups.restore(empty_database, tmp_path / "backup", manifest, silent)
    connection = await driver.connect(empty_database)
    assert (await connection.execute("SELECT cluster_id::text FROM cluster")).rows == [(manifest.cluster,)]
    assert (await connection.execute("SELECT count(*) FROM since_recovery")).rows == [(0,)]  # keys are to jump
    assert await migrate(connection) == []
    connection.close()
    for dsn in (filled, empty_database):
        assert execute(dsn, VALUES).fetchall() == [(["NULL", None], True, True)]


def test_the_commands_say_what_they_did(filled, empty_database, tmp_path):
    directory = tmp_path / "backup"
    said = run(backup, directory, "--database-url", filled)
    assert said.exit_code == 0, said.output
    assert f"{directory}: 0 instances as of 20" in said.output
    assert "the backup is whole: 0 instances" in run(restore, directory, "--check").output
    said = run(restore, directory, "--database-url", empty_database)
    assert "restored: 0 instances" in said.output, said.output
    said = run(restore, directory, "--database-url", empty_database)
    assert (said.exit_code, "restore into an empty one" in said.output) == (1, True)
    said = run(backup, directory, "--database-url", filled)
    assert (said.exit_code, "exists already" in said.output) == (1, True)
    said = run(backup, tmp_path / "absent" / "backup", "--database-url", filled)
    assert (said.exit_code, "absent is not a directory" in said.output) == (1, True)


async def test_an_empty_database_is_no_backup(empty_database, tmp_path):
    with pytest.raises(BackupProblem, match="no tables of Vivero"):
        await backups.take(empty_database, tmp_path / "backup", jobs=1, progress=silent)
    assert list(tmp_path.iterdir()) == []


async def test_who_may_not_see_every_row_makes_no_backup(filled, tmp_path):
    refused = pytest.raises(BackupProblem, match="does not own the tables")
    with new_role(filled, "looks_on", "LOGIN IN ROLE pg_read_all_data") as looks_on, refused:
        await backups.take(conninfo.with_user(filled, looks_on), tmp_path / "b", jobs=1, progress=silent)


def changed(taken, **fields):
    path = taken / backups.MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


async def test_a_damaged_backup_is_refused(taken):
    (data,) = (max((taken / "dump").glob("*.gz"), key=lambda path: path.stat().st_size),)
    whole = data.read_bytes()
    data.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(BackupProblem, match=f"{data.name} has changed since"):
        await backups.verify(taken, silent)
    data.unlink()
    with pytest.raises(BackupProblem, match=f"{data.name} is missing"):
        await backups.verify(taken, silent)
    data.write_bytes(whole)
    await backups.verify(taken, silent)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"format": 2}, "has format 2, and this program knows 1"),
        ({"schema": SCHEMA_VERSION + 1}, f"schema version {SCHEMA_VERSION + 1}, but this program knows only"),
        ({"files": 3}, "manifest.json cannot be read"),
    ],
)
async def test_what_this_program_cannot_read_is_refused(taken, fields, why):
    changed(taken, **fields)
    with pytest.raises(BackupProblem, match=why):
        await backups.verify(taken, silent)


async def test_a_directory_that_is_no_backup(tmp_path):
    with pytest.raises(BackupProblem, match="is not a backup"):
        await backups.verify(tmp_path, silent)


async def test_a_restore_that_fails_leaves_nothing(taken, empty_database):
    """The last file of the dump is damaged, and its sum is not looked at."""
    manifest = await backups.verify(taken, silent)
    for data in sorted((taken / "dump").glob("*.gz"))[-5:]:
        data.write_bytes(b"nonsense")
    with pytest.raises(BackupProblem, match="pg_restore failed"):
        await backups.restore(empty_database, taken, manifest, silent)
    connection = await driver.connect(empty_database)
    tables = "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
    assert (await connection.execute(tables)).rows == [(0,)]
    connection.close()


async def test_a_backup_of_a_newer_postgresql(taken, empty_database):
    changed(taken, pgDump=99)
    with pytest.raises(BackupProblem, match="restore it into PostgreSQL 99 or later"):
        await backups.restore(empty_database, taken, backups.read_manifest(taken), silent)


# ---- schemas


def at(dsn, schema):
    return make_conninfo(dsn, options=f"-csearch_path={schema}")


def execute(dsn, *statements):
    with psycopg.connect(dsn, autocommit=True) as connection:
        return [connection.execute(statement) for statement in statements][-1]


def tables(dsn):
    """Schema → tables."""
    counts = "SELECT schemaname, count(*)::int FROM pg_tables WHERE schemaname !~ '^(pg_|information)' GROUP BY 1"
    return dict(execute(dsn, counts).fetchall())


@pytest.fixture(scope="module")
def of_a_schema(postgres_dsn, tmp_path_factory):
    """A backup of an installation in the schema `App`, beside tables of others, which are gone since."""
    directory = tmp_path_factory.mktemp("schema") / "backup"
    with new_database(postgres_dsn, "with_schema") as source:
        execute(source, 'CREATE SCHEMA "App"', "CREATE TABLE of_others (n int)")
        assert run(migrate_command, "--database-url", at(source, '"App"')).exit_code == 0
        execute(at(source, '"App"'), "UPDATE cluster SET cluster_id = '00000000-0000-0000-0000-000000000007'")
        assert run(backup, directory, "--database-url", at(source, '"App"')).exit_code == 0
    return directory


@pytest.mark.long
@pytest.mark.parametrize("before", ['CREATE SCHEMA "App"', "CREATE TABLE schema_of_others (n int)"])
def test_a_schema_is_restored_whether_it_exists_or_not(of_a_schema, empty_database, before):
    execute(empty_database, before)
    assert_restored(of_a_schema, empty_database)


def assert_restored(of_a_schema, empty_database):
    said = run(restore, of_a_schema, "--database-url", at(empty_database, '"App"'))
    assert (said.exit_code, "restored: 0 instances" in said.output) == (0, True), said.output
    assert tables(empty_database)["App"] > 50
    assert "of_others" not in str(tables(empty_database))
    seen = execute(at(empty_database, '"App"'), "SELECT cluster_id::text FROM cluster").fetchone()
    assert seen[0].endswith("7")


@pytest.mark.parametrize(
    ("options", "leads_to"),
    [("", "the schema public"), ("new", "the schema new"), ("nowhere", "no schema that exists")],
)
def test_a_search_path_that_leads_elsewhere_restores_nothing(of_a_schema, empty_database, options, leads_to):
    execute(empty_database, "CREATE SCHEMA new")
    dsn = at(empty_database, options) if options else empty_database
    said = run(restore, of_a_schema, "--database-url", dsn)
    assert said.exit_code == 1
    assert f"the backup is of the schema App, and the search_path leads to {leads_to}. Set" in said.output
    assert 'ALTER ROLE CURRENT_USER SET search_path = "App"' in said.output  # without quotes it means app
    assert tables(empty_database) == {}


def test_who_may_not_create_the_schema_is_told(of_a_schema, empty_database):
    with new_role(empty_database, "plain") as plain:
        said = run(restore, of_a_schema, "--database-url", at(conninfo.with_user(empty_database, plain), '"App"'))
    assert (said.exit_code, "which this user may not create" in said.output) == (1, True), said.output


@pytest.mark.long
@pytest.mark.parametrize("exists", [True, False])
def test_a_restore_that_fails_after_the_load_leaves_what_was_there(of_a_schema, empty_database, tmp_path, exists):
    directory = shutil.copytree(of_a_schema, tmp_path / "copy")
    if exists:
        execute(
            at(empty_database, '"App"'), 'CREATE SCHEMA "App"', "CREATE VIEW own AS SELECT 1",
            "CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        )  # fmt: skip
    left = "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('\"App\"') AND relkind <> 'c'"
    routines = "SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace('\"App\"')"
    changed(directory, rows=backups.read_manifest(directory).rows | {"jobs": 5})
    said = run(restore, directory, "--database-url", at(empty_database, '"App"'))
    assert (said.exit_code, "jobs has 0 rows, not 5. Nothing was left of it" in said.output.replace("\n", " ")) == (
        1,
        True,
    )
    assert (
        execute(empty_database, left).fetchall() == execute(empty_database, routines).fetchall() == [("own",)] * exists
    )
    assert execute(empty_database, "SELECT count(*)::int FROM pg_namespace WHERE nspname = 'App'").fetchone() == (
        exists,
    )


@pytest.mark.long
def test_a_forgotten_search_path_is_told_by_all_commands(of_a_schema, empty_database, tmp_path):
    assert_restored(of_a_schema, empty_database)
    for command, *arguments in ((backup, tmp_path / "b"), (migrate_command, "--check"), (migrate_command,), (roles,)):
        said = run(command, *arguments, "--database-url", empty_database)
        assert (said.exit_code, "but the schema App has one" in said.output) == (1, True), said.output
    said = run(doctor, "--database-url", empty_database)
    assert "the schema App has an installation, and the search_path leads to public" in said.output
    assert "no tables yet" not in said.output
    assert tables(empty_database).keys() == {"App"}


# ---- the tools


def make_tool(directory, major):
    directory.mkdir()
    (directory / "pg_dump").write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {major}.1'\n")
    (directory / "pg_dump").chmod(0o755)
    return directory


def test_the_oldest_tool_that_fits_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr("vivero.embedded.binaries._PACKAGES", ())
    monkeypatch.setattr("vivero.embedded.binaries._SYSTEM", tmp_path / "system")
    monkeypatch.setenv("PATH", f"{make_tool(tmp_path / 'path', 16)}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(BIN_VARIABLE, str(make_tool(tmp_path / "chosen", 18)))
    assert [tool("pg_dump", major).major for major in (15, 16, 17, 18)] == [16, 16, 18, 18]
    with pytest.raises(NoTool, match=r"no pg_dump for PostgreSQL 19 \(found: 16 in .*path, 18 in .*chosen\)"):
        tool("pg_dump", 19)


def test_no_password_is_on_the_command_line():
    dsn = "postgresql://ann:secret@db1,db2:5433/orders?sslmode=require&connect_timeout=3"
    assert conninfo.environment(dsn) == {
        "PGUSER": "ann", "PGPASSWORD": "secret", "PGHOST": "db1,db2", "PGPORT": ",5433", "PGDATABASE": "orders",
        "PGSSLMODE": "require", "PGCONNECT_TIMEOUT": "3",
    }  # fmt: skip
    assert conninfo.name_of(dsn) == "dbname=orders"


async def test_what_a_tool_says_when_it_fails_is_told():
    lines = []
    command = ["sh", "-c", "echo one; echo 'pg_dump: doing'; echo 'pg_dump: error: no space' >&2; exit 3"]
    with pytest.raises(BackupProblem, match="sh failed:\n  one\n  pg_dump: error: no space"):
        await run_tool(command, "dbname=x", lines.append, BackupProblem)
    assert lines == ["one", "pg_dump: doing", "pg_dump: error: no space"]


@pytest.mark.parametrize("lines", [
    ['pg_dump: finished item 1 TABLE DATA a', "pg_dump: finished item 2 TABLE DATA b"],
    ['pg_dump: dumping contents of table "public.a"', 'pg_dump: dumping contents of table "public.b"', 'x table "y"'],
])  # fmt: skip
def test_tables_count_when_they_are_done(lines):
    seen = []
    meter = Meter({"a": 10, "b": 30, "other": 2}, "dumping", lambda *more: seen.append(more))
    for line in lines:
        meter(line)
    assert seen[:2] == [("dumping", 0, 42), ("dumping", 10, 42)]


def test_a_database_is_named_by_a_connection_string():
    assert conninfo_to_dict(conninfo.name_of(make_conninfo(dbname="it's"))) == {"dbname": "it's"}
