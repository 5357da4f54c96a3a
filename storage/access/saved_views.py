"""Views of lists that people save: filters, order and columns, for themselves or for all people of a tenant."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from vivero.storage.access import tenants
from vivero.storage.access.sessions import PASSWORD
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


class ViewOwner(NamedTuple):
    """A caller as the owner of views: the kind, the id, and the verifier, "" without one."""

    type: str
    id: str
    provider: str


class View(msgspec.Struct, frozen=True):
    """A view to save. `resource` is the list, `query` the query of its URL."""

    tenant: str
    owner: ViewOwner
    resource: str
    name: str
    query: str
    is_shared: bool


class FoundView(NamedTuple):
    """A view that is there. `is_own`: whether the caller saved it."""

    resource: str
    is_shared: bool
    is_own: bool


async def keep_owner(connection: Connection, view: View) -> bool:
    """Keep the owner and the tenant of a view until the caller's transaction ends. False if one of them was deleted.

    Owners that an identity provider knows have no rows: nobody deletes them here.
    """
    kind, id, provider = view.owner
    statement = "keep_user" if (kind, provider) == ("USER", PASSWORD) else "keep_token" if kind == "TOKEN" else None
    if statement is not None and not (await connection.execute(_sql[statement], (id,))).rows:
        return False
    return await tenants.keep(connection, view.tenant)


async def save(connection: Connection, view: View, most: int, most_shared: int) -> int | None:
    """Save a view in the caller's transaction, also over one of the same name; its key.

    None: the owner has `most` others, or the tenant has `most_shared` other ones that are shared.
    """
    await connection.execute(_sql["lock"])
    values = (view.tenant, *view.owner, view.resource, view.name, view.query, most, most_shared, view.is_shared)
    rows = (await connection.execute(_sql["save"], values)).rows
    return rows[0][0] if rows else None


async def find(connection: Connection, key: int, owner: ViewOwner, tenants: Tenants = None) -> FoundView | None:
    """The view with this key in one of these tenants, in the caller's transaction; None if there is none."""
    await connection.execute(_sql["lock"])
    rows = (await _of_tenants.execute(connection, "find", tenants, key, *owner)).rows
    return FoundView(*rows[0]) if rows else None


async def delete(connection: Connection, key: int) -> None:
    """Delete a view that was found in the same transaction."""
    await connection.execute(_sql["delete"], (key,))
