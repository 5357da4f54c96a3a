"""Roles of the database that may queue commands in their own transactions, and their tenants.

A grant is two things: the rights of PostgreSQL to call the functions, and rows with the tenants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class RefusedGrant(Exception):
    """The database has no such role, or no such tenants. The message names them."""


class RoleGrant(NamedTuple):
    """A role with its tenants. `exists` is False after the role was dropped."""

    role: str
    tenants: Sequence[str]
    exists: bool


async def grant(connection: Connection, role: str, tenants: Sequence[str]) -> None:
    """Let a role call the functions, for these tenants as well; `*`: for all. In the caller's transaction.

    Raises:
        RefusedGrant: nothing was changed.
    """
    quoted, schema = await _quoted(connection, role)
    unknown = (await connection.execute(_sql["unknown_tenants"], (list(tenants),))).rows
    if unknown:
        raise RefusedGrant(f"there is no tenant {', '.join(id for (id,) in unknown)}: `vivero tenant list` shows them")
    await connection.execute(_sql["forget"], (role,))
    await connection.script(f"GRANT USAGE ON SCHEMA {schema} TO {quoted}")
    await connection.script(f"GRANT EXECUTE ON FUNCTION {await _functions(connection)} TO {quoted}")
    await connection.execute(_sql["grant"], (role, list(tenants)))


async def revoke(connection: Connection, role: str) -> bool:
    """Take all of that from a role, but the usage of the schema; False if it had nothing."""
    removed = (await connection.execute(_sql["revoke"], (role,))).count
    try:
        quoted, _ = await _quoted(connection, role)
    except RefusedGrant:
        return bool(removed)
    await connection.script(f"REVOKE EXECUTE ON FUNCTION {await _functions(connection)} FROM {quoted}")
    return bool(removed)


async def grants(connection: Connection) -> list[RoleGrant]:
    """All roles with tenants, by name."""
    return [RoleGrant(*row) for row in (await connection.execute(_sql["grants"])).rows]


async def _quoted(connection: Connection, role: str) -> tuple[str, str]:
    found = (await connection.execute(_sql["role"], (role,))).rows
    if not found:
        raise RefusedGrant(f"the database has no role '{role}': CREATE ROLE makes one")
    quoted, schema = found[0]
    return quoted, schema


async def _functions(connection: Connection) -> str:
    return ", ".join(name for (name,) in (await connection.execute(_sql["functions"])).rows)
