"""The start-up checks: each misfit is told by itself, with what to do about it, and never with a password."""

import psycopg
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.eventually import eventually
from tests.server_objects import new_database, new_role
from vivero.storage.postgres import pooling, startup_connections
from vivero.storage.postgres.driver import QueryResult, connect
from vivero.storage.postgres.errors import Retry
from vivero.storage.postgres.startup_problems import (
    CannotEndOwnSessions,
    CommitsNotDurable,
    NotPermitted,
    PooledConnections,
    ReadOnlyServer,
    ServerTooOld,
    SeveralProblems,
    StartupProblem,
    UnknownDatabase,
    Unreachable,
    UnreadableUrl,
    WrongCredentials,
    WrongEncoding,
    WrongSchema,
)
from vivero.storage.schema import checks
from vivero.storage.schema.checks import Server, check
from vivero.storage.schema.migrate import pending
from vivero.storage.schema.migration_files import read_migrations

SAFE = Server("18.4", 180004, "on", True, "db as user at host port 5432")


def with_options(dsn, options):
    return make_conninfo(dsn, options=options)


async def refused(dsn, kind, **options):
    with pytest.raises(StartupProblem) as caught:
        await check(dsn, **{"allow_unsafe_commits": True, **options})
    assert type(caught.value) is kind, caught.value
    assert "secret" not in str(caught.value)
    return str(caught.value)


async def test_a_fit_server_is_described(empty_database):
    server = await check(empty_database, allow_unsafe_commits=True)
    assert server.version_number // 10_000 == int(server.version.split(".")[0])
    assert server.address.startswith(f"{conninfo_to_dict(empty_database)['dbname']} as postgres at /")


async def test_the_checks_leave_no_session_and_no_listener(empty_database, postgres_dsn):
    await check(empty_database, allow_unsafe_commits=True)
    name = conninfo_to_dict(empty_database)["dbname"]
    with psycopg.connect(postgres_dsn, autocommit=True) as administrator:
        sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        await eventually(
            lambda: administrator.execute(sessions, (name,)).fetchone(), accept=lambda found: found == (0,)
        )


# Getting in


@pytest.mark.parametrize("dsn", ["postgresql://user:secret@[::1/db", "nonsense secret", "host=a connect_timeout=x"])
async def test_malformed_url(dsn):
    await refused(dsn, UnreadableUrl)


async def test_nobody_there(tmp_path):
    text = await refused(f"host={tmp_path} user=u password=secret dbname=d", Unreachable)
    assert text.startswith(f"d as u at {tmp_path} port 5432: cannot connect. Check host and port")


async def test_unknown_host():
    text = await refused("host=nowhere.invalid user=u dbname=d", Unreachable)
    assert "cannot resolve host 'nowhere.invalid'" in text


async def test_a_server_that_never_answers(proxy):
    proxy.swallow = True
    started = trio.current_time()
    text = await refused(f"host=127.0.0.1 port={proxy.port} user=u dbname=d", Unreachable, deadline=started + 0.2)
    assert "no answer from 127.0.0.1" in text
    assert trio.current_time() - started < 3


async def test_unknown_database(empty_database):
    text = await refused(make_conninfo(empty_database, dbname="nowhere"), UnknownDatabase)
    assert text.startswith("nowhere as postgres at ")
    assert "CREATE DATABASE" in text


async def test_unknown_user(empty_database):
    text = await refused(make_conninfo(empty_database, user="nobody-at-all"), WrongCredentials)
    assert 'role "nobody-at-all" does not exist' in text


@pytest.mark.parametrize(
    ("sqlstate", "kind"),
    [
        ("28P01", WrongCredentials),
        ("28000", WrongCredentials),
        ("3D000", UnknownDatabase),
        ("08P01", PooledConnections),
        ("53300", Unreachable),
        ("57P03", Unreachable),
        ("XX000", Unreachable),
    ],
)
async def test_the_reason_of_a_refusal_is_known_in_every_language(refuser, sqlstate, kind):
    await refused(await refuser(sqlstate), kind)


async def test_which_limit_of_connections_is_reached_is_told(refuser):
    text = await refused(await refuser("53300", 'too many connections for role "shop"'), Unreachable)
    assert 'too many connections for role "shop"' in text


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("unsupported startup parameter: options", "options"),
        ("unsupported startup parameter in options: statement_timeout", "statement_timeout"),
    ],
)
async def test_a_pooler_that_does_not_pass_on_a_start_parameter(refuser, message, parameter):
    text = await refused(await refuser("08P01", message), PooledConnections)
    assert f"does not take the start parameter '{parameter}'" in text
    assert f"ignore_startup_parameters = {parameter}" in text


# Facts that the server tells of itself


@pytest.mark.parametrize("value", ["off", "local"])
async def test_commits_that_can_be_lost_are_refused_unless_allowed(empty_database, value):
    dsn = with_options(empty_database, f"-c synchronous_commit={value}")
    with pytest.raises(
        StartupProblem, match=f"synchronous_commit is {value}; a crash could lose acknowledged commands"
    ):
        await check(dsn)
    assert (await check(dsn, allow_unsafe_commits=True)).synchronous_commit == value


@pytest.mark.parametrize(("commit", "fsync", "count"), [("off", True, 1), ("local", True, 1), ("off", False, 2)])
def test_unsafe_commits_are_told_one_by_one(commit, fsync, count):
    server = Server("18.4", 180004, commit, fsync, "here")
    problems = checks.judge(server, "UTF8", None, False)
    assert [type(problem) for problem in problems] == [CommitsNotDurable] * count
    assert checks.judge(server, "UTF8", None, True) == []


@pytest.mark.parametrize("commit", ["on", "remote_write", "remote_apply"])
def test_safe_commits(commit):
    assert checks.judge(Server("15.0", 150000, commit, True, "here"), "UTF8", None, False) == []


def test_an_old_server():
    (problem,) = checks.judge(Server("14.9", 140009, "on", True, "here"), "UTF8", None, False)
    assert isinstance(problem, ServerTooOld)
    assert str(problem) == "here: PostgreSQL 14.9 is too old. Use PostgreSQL 15 or a newer one"


async def test_a_standby():
    class Standby:
        server_version = 180004

        async def execute(self, query):
            return QueryResult([("18.4", "on", True, True, True)], 1, "SELECT 1")

    server, read_only = await checks.facts(Standby(), "here")
    (problem,) = checks.judge(server, "UTF8", read_only, False)
    assert isinstance(problem, ReadOnlyServer)
    assert "it is a standby. Give the primary's address" in str(problem)


async def test_a_read_only_server(empty_database):
    text = await refused(with_options(empty_database, "-c default_transaction_read_only=on"), ReadOnlyServer)
    assert "default_transaction_read_only is on" in text


async def test_another_encoding(postgres_dsn):
    with new_database(postgres_dsn, "latin", "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'") as latin:
        text = await refused(latin, WrongEncoding)
    assert "encoding is LATIN1" in text


async def test_several_problems_are_told_together(empty_database):
    dsn = with_options(empty_database, "-c default_transaction_read_only=on -c synchronous_commit=off")
    text = await refused(dsn, SeveralProblems, allow_unsafe_commits=False)
    assert "- " in text
    assert "read_only is on" in text
    assert "synchronous_commit is off" in text


@pytest.fixture
def stranger(postgres_dsn):
    """A user who owns nothing."""
    with new_role(postgres_dsn, "stranger") as name:
        yield name


async def test_who_may_make_no_tables(empty_database, stranger):
    text = await refused(make_conninfo(empty_database, user=stranger), NotPermitted)
    assert f"GRANT CREATE ON SCHEMA public TO {stranger}" in text


async def test_who_may_not_work_with_the_tables(database, stranger):
    text = await refused(make_conninfo(database, user=stranger), NotPermitted)
    assert f"which postgres owns. Use the database URL of that user, or run: GRANT postgres TO {stranger}" in text


async def test_who_was_granted_the_tables_may(database, stranger):
    role = sql.Identifier(stranger)
    with psycopg.connect(database, autocommit=True) as administrator:
        grant = sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}")
        administrator.execute(grant.format(role))
        try:
            await check(make_conninfo(database, user=stranger), allow_unsafe_commits=True)
        finally:
            administrator.execute(sql.SQL("DROP OWNED BY {}").format(role))


async def test_a_search_path_without_a_schema(empty_database):
    text = await refused(with_options(empty_database, "-c search_path=nowhere"), WrongSchema)
    assert "search_path names no schema" in text


@pytest.fixture
def schemas(empty_database):
    """Makes schemas with a list of migrations each, ours by default."""
    ours = "version int, name text, sha256 text, applied_at timestamptz"

    def make(*names, columns=ours):
        with psycopg.connect(empty_database, autocommit=True) as administrator:
            for name in names:
                administrator.execute(f'CREATE SCHEMA IF NOT EXISTS "{name}"')
                if columns:
                    administrator.execute(f'CREATE TABLE "{name}".schema_migrations ({columns})')
        return empty_database

    return make


@pytest.mark.parametrize(
    ("names", "options", "to_do"),
    [
        (
            ["app"],
            "",
            "the schema public has no installation, but the schema app has one. Set search_path: add options=",
        ),
        (["app"], '-csearch_path="$user",public', "-csearch_path=app to the database URL, or run: ALTER ROLE postgres"),
        (["app", "b"], "-csearch_path=nowhere,public", "but the schemas app, b have one. Set search_path: add"),
        (["My app"], "", 'Set search_path: ALTER ROLE postgres SET search_path = "My app"'),
        (
            ["app"],
            "-csearch_path=nowhere",
            "that the user may use: the schema app has an installation. Set search_path",
        ),
        (
            ["public"],
            "-csearch_path=pg_temp,new,public",
            "is in the schema public, but the search_path leads new tables",
        ),
    ],
)
async def test_no_second_installation_is_made_by_a_search_path_that_is_forgotten(schemas, names, options, to_do):
    schemas("new", columns="")
    assert to_do in await refused(with_options(schemas(*names), options), WrongSchema)


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["app"], "-csearch_path=new"),
        (["app"], '-csearch_path="new",public'),
        (["app"], "-csearch_path=app"),
        (["My app"], '-csearch_path="My\\ app"'),
        (["public", "app"], ""),
    ],
)
async def test_an_installation_in_a_schema_that_is_named_or_exists(schemas, names, options):
    schemas("new", columns="")
    await check(with_options(schemas(*names), options), allow_unsafe_commits=True)


async def test_tables_of_another_program_are_not_taken_for_an_installation(schemas):
    """Several frameworks have a table of this name."""
    database = schemas("public", "app", columns="version text")
    assert "belongs to another program" in await refused(database, WrongSchema)
    schemas("new", columns="")
    await check(with_options(database, "-csearch_path=new,public"), allow_unsafe_commits=True)
    connection = await connect(with_options(database, "-csearch_path=new,public"))
    assert await pending(connection) == list(read_migrations())
    connection.close()


async def test_who_may_not_end_its_own_sessions(empty_database):
    with new_role(empty_database, "restricted") as role:
        with psycopg.connect(empty_database, autocommit=True) as administrator:
            administrator.execute(sql.SQL("GRANT CREATE ON SCHEMA public TO {}").format(sql.Identifier(role)))
            administrator.execute("REVOKE EXECUTE ON FUNCTION pg_terminate_backend FROM PUBLIC")
        text = await refused(make_conninfo(empty_database, user=role), CannotEndOwnSessions)
    assert "GRANT EXECUTE ON FUNCTION pg_terminate_backend" in text


# Poolers


async def test_a_pooler_that_reuses_the_last_session_is_found(pooler, empty_database):
    text = await refused(await pooler(empty_database), PooledConnections)
    assert "one connection was backend" in text
    assert "use the address of PostgreSQL itself" in text


async def test_a_pooler_that_takes_turns_is_found(pooler, empty_database):
    await refused(await pooler(empty_database, round_robin=True), PooledConnections)


async def test_a_pooler_with_a_single_session_is_found(pooler, empty_database, monkeypatch):
    monkeypatch.setattr(startup_connections, "PROBE_TIMEOUT_S", 0.5)
    text = await refused(await pooler(empty_database, size=1), PooledConnections)
    assert "no answer while another one was in a transaction" in text


@pytest.mark.parametrize(
    ("probe", "evidence"),
    [("_keeps_settings", "a setting of the session was lost"), ("_hears_itself", "a notification did not arrive")],
)
async def test_each_probe_finds_a_pooler_by_itself(pooler, empty_database, monkeypatch, probe, evidence):
    monkeypatch.setattr(startup_connections, "PROBE_TIMEOUT_S", 0.2)
    dsn = await pooler(empty_database)
    first, second = await connect(dsn), await connect(dsn)
    assert await pooling._evidence(getattr(pooling, probe), first, second) == evidence
    first.close()
    second.close()


async def test_a_connection_that_breaks_during_the_checks_is_not_taken_for_a_pooler(database, proxy):
    dsn = proxy.dsn(database)
    connection = await connect(dsn)
    connection.abort()
    with pytest.raises(Retry):
        await checks.facts(connection, "here")
