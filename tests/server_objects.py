"""Roles and databases that a test makes on a server that later tests have, too.

Each has a name that no other has, and goes whatever happens: a try that fails leaves nothing that the next one meets.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

_numbers = itertools.count(1)


def unused_name(stem: str) -> str:
    return f"{stem}_{next(_numbers)}"


@contextmanager
def new_role(dsn: str, stem: str, options: str = "LOGIN") -> Iterator[str]:
    """The name of a role of the server, for a while. `dsn` leads to the database in which it is given rights."""
    name = unused_name(stem)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL(f"CREATE ROLE {{}} {options}").format(sql.Identifier(name)))
    try:
        yield name
    finally:
        drop_role(dsn, name)


def drop_role(dsn: str, name: str) -> None:
    """Drop a role with its rights in this database. What it owns becomes the property of the caller."""
    statements = "REASSIGN OWNED BY {0} TO CURRENT_USER; DROP OWNED BY {0}; DROP ROLE {0}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL(statements).format(sql.Identifier(name)))


@contextmanager
def new_database(dsn: str, stem: str, options: str = "TEMPLATE template0 STRATEGY file_copy") -> Iterator[str]:
    """The DSN of a database beside that of `dsn`, for a while."""
    name = unused_name(stem)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL(f"CREATE DATABASE {{}} {options}").format(sql.Identifier(name)))
    try:
        yield make_conninfo(dsn, dbname=name)
    finally:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
