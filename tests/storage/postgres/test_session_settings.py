"""Sessions set what statements rely on, whatever a server, database or role sets; otherwise the start refuses."""

from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.storage.postgres.test_checks import refused, with_options
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.plans import ONCE
from vivero.storage.postgres.session_settings import (
    AT_LEAST,
    BY_TASK,
    HARMLESS,
    HARMLESS_KINDS,
    HARMLESS_WORDS,
    REFUSED,
    RELIED_ON,
)
from vivero.storage.postgres.startup_problems import WrongSetting

ODD = {
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "array_nulls": "off",
    "DateStyle": "SQL, DMY",
    "IntervalStyle": "sql_standard",
    "TimeZone": "Asia/Kathmandu",
    "bytea_output": "escape",
    "extra_float_digits": "-15",
    "quote_all_identifiers": "on",
    "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "plpgsql.extra_errors": "all",
    "plpgsql.extra_warnings": "all",
    "gin_fuzzy_search_limit": "1",
    "row_security": "off",
    "restrict_nonsystem_relation_kind": "view",
    "statement_timeout": "1min",
    "lock_timeout": "1ms",
    "transaction_timeout": "2min",
    "idle_session_timeout": "1min",
    "exit_on_error": "on",
    "client_min_messages": "error",
}
"""A value for each setting that statements rely on that would change what they mean."""
SETTABLE = (
    "SELECT name, category FROM pg_settings WHERE context IN ('user', 'superuser', 'backend', 'superuser-backend')"
)


@contextmanager
def odd(dsn, settings):
    """All new sessions of a database have these settings."""
    name = sql.Identifier(conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(dsn, autocommit=True) as administrator:
        for setting, value in settings.items():
            change = sql.SQL("ALTER DATABASE {} SET {} = {}")
            administrator.execute(change.format(name, sql.SQL(setting), sql.Literal(value)))
    yield


async def values(connection, names):
    query = "SELECT name, current_setting(name, true) FROM unnest($1::text[]) AS s (name)"
    return dict((await connection.execute(query, (list(names),))).rows)


def test_somebody_has_decided_on_every_setting(postgres_dsn):
    """A new version of PostgreSQL has new ones. Those of extensions are not ours."""
    decided = {*RELIED_ON, *AT_LEAST, *REFUSED, *BY_TASK, *HARMLESS}
    with psycopg.connect(postgres_dsn) as connection:
        settings = connection.execute(SETTABLE).fetchall()
    undecided = [
        name
        for name, category in settings
        if name not in decided and "." not in name and not name.startswith(HARMLESS_WORDS)
        if not category.startswith(HARMLESS_KINDS)
    ]
    assert undecided == []


def test_one_decision_for_each_setting():
    groups = [set(RELIED_ON), set(AT_LEAST), set(REFUSED), set(BY_TASK), set(HARMLESS)]
    assert sum(map(len, groups)) == len(set.union(*groups))
    assert ODD.keys() == RELIED_ON.keys()


async def test_a_session_has_what_statements_rely_on(empty_database):
    plain = await connect(empty_database)
    with odd(empty_database, ODD):
        connection = await connect(empty_database)
    wanted = RELIED_ON if plain.server_version >= 170000 else await values(plain, RELIED_ON)
    assert await values(connection, RELIED_ON) == wanted == await values(plain, RELIED_ON)
    assert (await connection.execute("SELECT $1::int[]", ([1, None],))).rows == [([1, None],)]
    plain.close()
    connection.close()


async def test_what_a_task_asks_for_goes_before(empty_database):
    with odd(empty_database, ODD | {"enable_indexscan": "off", "enable_nestloop": "off"}):
        connection = await connect(empty_database, settings={**ONCE, "statement_timeout": "5s"})
    assert await values(connection, [*ONCE, "statement_timeout"]) == {**ONCE, "statement_timeout": "5s"}
    connection.close()


@pytest.mark.parametrize(("set_to", "becomes"), [("1s", "1min"), ("2min", "2min"), ("0", "0"), ("1ms", "1min")])
async def test_a_timeout_that_is_too_short_is_raised(empty_database, set_to, becomes):
    (name,) = AT_LEAST
    with odd(empty_database, {name: set_to}):
        connection = await connect(empty_database)
        asked = await connect(empty_database, settings={name: "7s"})
    assert await values(connection, AT_LEAST) == {name: becomes}
    assert await values(asked, AT_LEAST) == {name: "7s"}
    connection.close()
    asked.close()


@pytest.mark.parametrize(
    ("name", "value"), [("session_replication_role", "replica"), ("plpgsql.variable_conflict", "use_column")]
)
async def test_what_a_session_cannot_set_is_refused_by_name(empty_database, name, value):
    text = await refused(with_options(empty_database, f"-c {name}={value}"), WrongSetting)
    assert f"{name} is {value}: {REFUSED[name][1]}. Set it to {REFUSED[name][0]} for this server" in text
