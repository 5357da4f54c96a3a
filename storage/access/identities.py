"""Users, API tokens, roles and their members: what authentication reads, and what the command line changes.

Every change notifies all nodes (`CHANNEL`), by triggers of the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from vivero.storage.access.sessions import OIDC
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.postgres.values import Params

_sql = beside(__file__)

CHANNEL = "vivero_identities"
MAX_OWN_TOKENS = 50
"""Tokens of one user."""
SESSIONS_ENDED = "sessions"
"""The payload if only sessions have ended. Otherwise rights may have changed."""
ADMIN = "admin"
"""The role that may do everything."""


class StoredUser(NamedTuple):
    """The data of a password check. The hash is argon2's, with its parameters."""

    password_hash: str
    name: str | None
    email: str | None


class StoredToken(NamedTuple):
    """A valid API token. `expires_in_s` is None if it does not expire; `use_is_old`: its last use is to be written."""

    name: str
    roles: Sequence[str]
    tenants: Sequence[str]
    expires_in_s: float | None
    use_is_old: bool
    owner: str | None = None
    """The user whose token it is."""


class TokenOwner(NamedTuple):
    """The user whose tokens these are; the provider is one of `sessions.PASSWORD` and `sessions.OIDC`."""

    username: str
    provider: str


class Tenant(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A tenant as the API shows it."""

    tenant_id: str
    name: str
    description: str | None = None


class Grant(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Permissions for one resource, for all of its type (`*`), or (without an id) for those with a property."""

    resource_type: str
    resource_id: str | None
    permission_types: tuple[str, ...]
    property_name: str | None = None


class StoredRights(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A caller with its permissions. `now_s`: the database's time, in seconds since 1970."""

    now_s: float
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    tenants: tuple[Tenant, ...]
    grants: tuple[Grant, ...]
    mapping_rules: tuple[str, ...] = ()


class ListedUser(NamedTuple):
    """A user as `vivero user list` shows it."""

    username: str
    name: str | None
    email: str | None
    roles: Sequence[str]


class ListedRole(NamedTuple):
    """A role as `vivero role list` shows it. Members are `USER demo`, `GROUP staff`, …"""

    role_id: str
    name: str
    description: str | None
    members: Sequence[str]


class ListedTenant(NamedTuple):
    """A tenant as `vivero tenant list` shows it. Members are `USER demo`, `TOKEN worker`, …"""

    tenant_id: str
    name: str
    description: str | None
    members: Sequence[str]
    definitions: int
    """The number of process definitions that are not deleted."""


class ListedToken(NamedTuple):
    """A token as `vivero token list` shows it."""

    name: str
    roles: Sequence[str]
    tenants: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    expired: bool
    owner: str | None = None
    owner_provider: str | None = None


class LastAdmin(Exception):
    """The change would leave nobody with the role `admin`."""

    def __init__(self) -> None:
        super().__init__("this is the last administrator: give somebody else the role 'admin' first")


_rights = msgspec.json.Decoder(StoredRights)


# ------------------------------------------------------------------------------------------------- authentication


async def user(connection: Connection, username: str) -> StoredUser | None:
    """The user with this name."""
    rows = (await connection.execute(_sql["user"], (username,))).rows
    return StoredUser(*rows[0]) if rows else None


async def is_taken(
    connection: Connection, provider: str | None, username: str | None, shared_names: Sequence[str]
) -> bool:
    """Whether this is a user of the identity provider, and a local user has the name, which is another person.

    `shared_names`: those that mean the same person here and there; `*` for all.
    """
    if provider != OIDC or username is None:
        return False
    return bool((await connection.execute(_sql["taken"], (username, list(shared_names)))).rows)


async def taken_names(connection: Connection, shared_names: Sequence[str]) -> list[str]:
    """The local users whose names users of the identity provider have, too, by their sessions and tokens."""
    return [row[0] for row in (await connection.execute(_sql["taken_names"], (list(shared_names),))).rows]


async def token(connection: Connection, sha256: bytes, shared_names: Sequence[str] = ()) -> StoredToken | None:
    """The token with this hash; None if it does not exist, is revoked or has expired, or its owner `is_taken`."""
    rows = (await connection.execute(_sql["token"], (sha256, list(shared_names)))).rows
    return StoredToken(*rows[0]) if rows else None


async def token_used(connection: Connection, sha256: bytes) -> None:
    """Write that a token is in use now."""
    await connection.execute(_sql["token_used"], (sha256,))


async def rights(
    connection: Connection,
    identities: Sequence[tuple[str, str]] = (),
    claims: Sequence[tuple[str, str]] = (),
    roles: Sequence[str] = (),
    tenants: Sequence[str] = (),
) -> StoredRights:
    """The rights of a caller with these identities (type, id), claims (name, value), roles and tenants."""
    lists = ([pair[i] for pair in pairs] for pairs in (identities, claims) for i in (0, 1))
    rows = (await connection.execute(_sql["rights"], (*lists, list(roles), list(tenants)))).rows
    return _rights.decode(rows[0][0])


async def rights_of_token(
    connection: Connection, roles: Sequence[str], tenants: Sequence[str], owner: str | None
) -> StoredRights:
    """The rights of an API token. That of a user has only roles and tenants that its owner still has."""
    if owner is not None:
        own = await rights(connection, [("USER", owner)])
        roles = [role for role in roles if role in own.roles]
        tenants = [tenant for tenant in tenants if any(tenant == each.tenant_id for each in own.tenants)]
    return await rights(connection, roles=roles, tenants=tenants)


async def _change(connection: Connection, name: str, values: Params) -> bool:
    """Run a statement when changes before it have ended. Whether it changed something."""
    if not connection.in_transaction:
        async with connection.transaction():
            return await _change(connection, name, values)
    await connection.execute(_sql["lock_admins"])
    return bool((await connection.execute(_sql[name], values)).rows)


# ---------------------------------------------------------------------------------------------------------- users


async def users(connection: Connection) -> list[ListedUser]:
    """All users with their roles."""
    return [ListedUser(*row) for row in (await connection.execute(_sql["users"])).rows]


async def create_user(
    connection: Connection, username: str, password_hash: str, name: str | None = None, email: str | None = None
) -> bool:
    """Create a user. False if the name is taken."""
    return await _change(connection, "create_user", (username, name, email, password_hash))


async def create_first_admin(connection: Connection, username: str, password_hash: str) -> bool:
    """Create a user with the role `admin` in a database without users and administrators. False in any other."""
    return bool((await connection.execute(_sql["create_first_admin"], (username, password_hash))).rows)


async def create_admin_if_none(
    connection: Connection, username: str, password_hash: str, name: str | None, email: str | None
) -> str:
    """Create the first administrator. Gives "done", or why not: "exists" (one does), "taken" (the name is)."""
    if await count_admins(connection):
        return "exists"
    if not await create_user(connection, username, password_hash, name, email):
        return "taken"
    await assign(connection, ("ROLE", ADMIN), ("USER", username))
    return "done"


async def set_password(connection: Connection, username: str, password_hash: str) -> bool:
    """Change a password. False if there is no such user. A change in doubt keeps the user's row locked."""
    if not connection.in_transaction:
        async with connection.transaction():
            return await set_password(connection, username, password_hash)
    return bool((await connection.execute(_sql["set_password"], (username, password_hash))).rows)


# ---------------------------------------------------------------------------------------------------------- roles


async def roles(connection: Connection) -> list[ListedRole]:
    """All roles with their members."""
    return [ListedRole(*row) for row in (await connection.execute(_sql["roles"])).rows]


async def missing_roles(connection: Connection, asked: Sequence[str]) -> list[str]:
    """Those of these roles that do not exist."""
    return [row[0] for row in (await connection.execute(_sql["missing_roles"], (list(asked),))).rows]


async def assign(connection: Connection, container: tuple[str, str], member: tuple[str, str]) -> bool:
    """Add a member (type, id) to a role, group or tenant (type, id). False if it is one already."""
    return await _change(connection, "assign", (*container, *member))


async def unassign(connection: Connection, container: tuple[str, str], member: tuple[str, str]) -> bool:
    """Remove a member. False if it was none. Raises LastAdmin: then the transaction must not commit."""
    if not connection.in_transaction:
        async with connection.transaction():
            return await unassign(connection, container, member)
    before = await count_admins(connection)
    done = bool((await connection.execute(_sql["unassign"], (*container, *member))).rows)
    if before and not await count_admins(connection):
        raise LastAdmin
    return done


# -------------------------------------------------------------------------------------------------------- tenants


async def tenants(connection: Connection) -> list[ListedTenant]:
    """All tenants with their members and their process definitions."""
    return [ListedTenant(*row) for row in (await connection.execute(_sql["tenants"])).rows]


async def missing_tenants(connection: Connection, asked: Sequence[str]) -> list[str]:
    """Those of these tenants that do not exist."""
    return [row[0] for row in (await connection.execute(_sql["missing_tenants"], (list(asked),))).rows]


async def count_admins(connection: Connection) -> int:
    """The number of members of the role `admin`. Others cannot change it before the transaction ends."""
    await connection.execute(_sql["lock_admins"])
    count: int = (await connection.execute(_sql["count_admins"])).rows[0][0]
    return count


# --------------------------------------------------------------------------------------------------------- tokens


async def create_token(
    connection: Connection,
    name: str,
    sha256: bytes,
    roles: Sequence[str],
    tenants: Sequence[str],
    expires_in_s: float | None,
    owner: TokenOwner | None = None,
) -> bool:
    """Store the hash of a new token. False if the name is taken."""
    values = (name, sha256, list(roles), list(tenants), expires_in_s, *(owner or (None, None)))
    return await _change(connection, "create_token", values)


async def tokens(connection: Connection, owner: TokenOwner | None = None) -> list[ListedToken]:
    """All tokens, or those of a user, without their hashes."""
    return [ListedToken(*row) for row in (await connection.execute(_sql["tokens"], owner or (None, None))).rows]


async def rotate_token(connection: Connection, name: str, sha256: bytes, expires_in_s: float | None) -> bool:
    """Replace the hash of a token, and its expiry if one is given. False if there is none."""
    return await _change(connection, "rotate_token", (name, sha256, expires_in_s))


async def revoke_token(connection: Connection, name: str, owner: TokenOwner | None = None) -> bool:
    """Delete a token, if an owner is given only one of this user. False if there is none."""
    return await _change(connection, "revoke_token", (name, *(owner or (None, None))))
