"""The schemas of a database that have an installation, and the one in which a session works.

`search_path` decides where tables are made and found. If it is forgotten, a start would make a second, empty
installation beside the existing one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from vivero.storage.postgres.connection import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

_FIRST = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,"\s]*))')
"""The first name of a search_path, quoted or not."""
_PLAIN = re.compile("[a-z_][a-z0-9_]*")


class SessionSchemas(NamedTuple):
    """The schemas of a session.

    `schema` is where it makes tables; `is_ours` tells whether the list of migrations there is ours, None without one.
    `found` is the schema of the installation that it finds through its search_path. `installed` are all schemas with
    an installation. `search_path` is None if nobody has set it.
    """

    schema: str | None
    is_ours: bool | None
    found: str | None
    installed: Sequence[str]
    search_path: str | None

    @property
    def is_named(self) -> bool:
        """Whether the search_path names the schema first. `"$user", public` names no schema."""
        return self.search_path is not None and first_of(self.search_path) == self.schema


def first_of(search_path: str) -> str:
    """The first name of a search_path."""
    found = _FIRST.match(search_path)
    if found is None:
        return ""
    return found[2].lower() if found[1] is None else found[1].replace('""', '"')


async def place(connection: Connection) -> SessionSchemas:
    """The schemas of this session."""
    return SessionSchemas(*(await connection.execute(_sql["place"])).rows[0])


def misplaced(place: SessionSchemas, user: str) -> str | None:
    """The reason why a program must not work in this place, and what to do; None if it may."""
    if place.schema is None:
        there = (
            f"{schemas_have(place.installed)} an installation. {set_search_path(place.installed[0], user)}"
            if place.installed
            else ""
        )
        return (
            "the user's search_path names no schema that exists and that the user may use:"
            f" {there or 'create the schema, or set search_path'}"
        )
    if place.is_ours is False:
        return (
            f"the table schema_migrations in the schema {place.schema} belongs to another program."
            " Create a schema for Vivero, and name it as search_path"
        )
    if place.found not in (None, place.schema):
        return (
            f"the installation is in the schema {place.found}, but the search_path leads new tables to the schema"
            f" {place.schema}. {set_search_path(str(place.found), user)}"
        )
    if place.installed and not place.is_ours and not place.is_named:
        return (
            f"the schema {place.schema} has no installation, but {schemas_have(place.installed)} one."
            f" {set_search_path(place.installed[0], user)}. For a second installation, name its schema in the same way"
        )
    return None


def schemas_have(schemas: Sequence[str]) -> str:
    """The beginning of a sentence about what schemas have."""
    listed = ", ".join(schemas)
    return f"the schema {listed} has" if len(schemas) == 1 else f"the schemas {listed} have"


def set_search_path(schema: str, user: str = "CURRENT_USER") -> str:
    """The advice for a user whose sessions are to work in a schema."""
    if _PLAIN.fullmatch(schema) is None:
        quoted = schema.replace('"', '""')
        return f'Set search_path: ALTER ROLE {user} SET search_path = "{quoted}"'
    return (
        f"Set search_path: add options=-csearch_path={schema} to the database URL, or run:"
        f" ALTER ROLE {user} SET search_path = {schema}"
    )


async def quoted(connection: Connection, name: str) -> str:
    """A name as part of a statement."""
    ((identifier,),) = (await connection.execute(_sql["quoted"], (name,))).rows
    return str(identifier)


async def exists(connection: Connection, schema: str) -> bool:
    """Whether there is a schema of this name."""
    ((found,),) = (await connection.execute(_sql["exists"], (schema,))).rows
    return bool(found)


async def schema_beside(connection: Connection, schema: str) -> str | None:
    """The schema in which this session would make tables if `schema` existed.

    Raises:
        StorageBug: the user may not create it.
    """
    create = f"CREATE SCHEMA {await quoted(connection, schema)}"
    await connection.execute("BEGIN")
    try:
        await connection.script(create)
        ((found,),) = (await connection.execute(_sql["current"])).rows
    finally:
        await connection.script("ROLLBACK")
    return None if found is None else str(found)
