"""Databases of tests, each like a new one: a copy of a template, or an earlier copy that has been emptied.

A copy takes 26 ms of CPU, and 100 ms more if a session is just ending. Emptying one takes 4 ms.
"""

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.kept_sessions import KeptSessions
from tests.reused_sessions import Reuse

LARGE_BYTES = 10 * 8192
"""A larger table is not reused: PostgreSQL plans for ten pages if there are fewer, and for their number otherwise."""
SESSION_END_S = 10.0
OTHER_SESSIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL (%s)"""
CHANGES = "pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid)"
TOUCHED = f"""
    SELECT oid::regclass::text, pg_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace <> 'pg_catalog'::regnamespace AND {CHANGES} > 0"""
"""The tables whose rows have changed since the copy was made. Sessions add to the statistics when they end."""
MARKS = f"""
    SELECT (SELECT stats_reset FROM pg_stat_bgwriter)::text, database.xmin::text,
        (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase = database.oid),
        (SELECT sum({CHANGES}) FROM pg_class WHERE relkind = 'r' AND NOT relisshared
            AND relnamespace = 'pg_catalog'::regnamespace)
    FROM pg_database AS database WHERE datname = current_database()"""
"""These values change if a crash of the server resets its statistics, or a test alters the database or catalogue."""
SEQUENCES = """
    SELECT string_agg(format('SELECT setval(%L, %s, %L)', sequencename, coalesce(last_value, start_value),
        last_value IS NOT NULL), '; ') FROM pg_sequences"""
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy and the connection that empties it. Triggers and foreign keys do not apply to that connection."""

    dsn: str
    connection: psycopg.Connection
    marks: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """Statements that restore the rows of a new database, by table, and its sequences."""

    rows: dict[str, str]
    sequences: str


class Databases:
    """Databases for one test after the other. `administration` is connected to another database of the same server."""

    def __init__(
        self, administration: psycopg.Connection, dsn: str, template: str, reuse: Reuse, prepare: str = "SELECT 1"
    ) -> None:
        """`prepare`: a statement for each copy, after which it counts as new."""
        self._administration, self._dsn, self._template, self._prepare = administration, dsn, template, prepare
        self._reuse = reuse
        self._empty: list[Copy] = []
        self._sessions: dict[str, KeptSessions] = {}

    def sessions(self, dsn: str) -> KeptSessions:
        """Sessions with one of these databases, which are kept as long as it is reused."""
        return self._sessions.setdefault(dsn, KeptSessions(dsn, self._reuse))

    @contextmanager
    def one(self) -> Iterator[str]:
        """The DSN of a database that is like the template, for a while."""
        copy = self._empty.pop() if self._empty else self._copied()
        self._reuse.begin(copy.dsn)
        yield copy.dsn
        if self._emptied(copy):
            self._empty.append(copy)
        else:
            self._drop(copy)

    @contextmanager
    def new(self) -> Iterator[str]:
        """The DSN of a copy that no test has used, and in which nobody else has a session, for a while."""
        name = self._create()
        with self._connect(name) as connection:
            connection.execute(self._prepare)
        dsn = make_conninfo(self._dsn, dbname=name)
        yield dsn
        self._end_sessions(dsn)
        self._run("DROP DATABASE {} WITH (FORCE)", name)

    def close(self) -> None:
        while self._empty:
            self._drop(self._empty.pop())

    def _create(self) -> str:
        name = f"test_{next(_numbers)}"
        assert self._contents, "are read before the first copy: nobody may be connected to the template then"
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, self._template)
        return name

    def _copied(self) -> Copy:
        name = self._create()
        connection = self._connect(name)
        connection.execute(self._prepare)
        connection.execute("SELECT pg_stat_force_next_flush()")
        return Copy(make_conninfo(self._dsn, dbname=name), connection, one_row(connection, MARKS))

    def _drop(self, copy: Copy) -> None:
        name = copy.connection.info.dbname
        copy.connection.close()
        self._end_sessions(copy.dsn)
        self._run("DROP DATABASE {} WITH (FORCE)", name)

    def _end_sessions(self, dsn: str) -> None:
        self.sessions(dsn).end()
        del self._sessions[dsn]

    def _run(self, statement: str, *names: str) -> None:
        self._administration.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def _connect(self, name: str) -> psycopg.Connection:
        options = "-c session_replication_role=replica"
        dsn = make_conninfo(self._dsn, dbname=name, options=options, application_name="emptying")
        return psycopg.connect(dsn, autocommit=True, prepare_threshold=1)

    @cached_property
    def _contents(self) -> Contents:
        with self._connect(self._template) as connection:
            return contents_of(connection)

    def _emptied(self, copy: Copy) -> bool:
        """Whether the database is like a new one again."""
        try:
            return sessions_have_ended(copy.connection, self.sessions(copy.dsn).settled()) and self._restored(copy)
        except psycopg.OperationalError:
            return False  # the test has ended this connection, or has stopped the server

    def _restored(self, copy: Copy) -> bool:
        """Nothing is done in a database with a large table, or with another catalogue."""
        connection = copy.connection
        touched = connection.execute(TOUCHED).fetchall()
        if one_row(connection, MARKS) != copy.marks or any(size > LARGE_BYTES for _, size in touched):
            return False
        tables = [table for table, _ in touched]
        made = [self._contents.rows[table] for table in tables if table in self._contents.rows]
        connection.execute("; ".join([*(f"DELETE FROM {table}" for table in tables), *made, self._contents.sequences]))
        return True


def sessions_have_ended(connection: psycopg.Connection, kept: list[int]) -> bool:
    """Ends all other sessions but the kept ones. PostgreSQL would wait for an end in steps of 100 ms."""
    until_s = time.monotonic() + SESSION_END_S
    while connection.execute(OTHER_SESSIONS, [kept]).fetchall():
        if time.monotonic() > until_s:
            return False
    return True


def one_row(connection: psycopg.Connection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row


def contents_of(connection: psycopg.Connection) -> Contents:
    tables = connection.execute(
        "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    ).fetchall()
    rows = {}
    for (table,) in tables:
        (found,) = one_row(connection, f"SELECT quote_literal(json_agg({table})) FROM {table}")
        if found is not None:
            made = f"SELECT * FROM json_populate_recordset(NULL::{table}, {found})"
            rows[table] = f"INSERT INTO {table} OVERRIDING SYSTEM VALUE {made}"
    return Contents(rows, *one_row(connection, SEQUENCES))
