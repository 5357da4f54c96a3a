"""The directory of users, groups, roles, mapping rules, tenants and their members, as the API changes it.

The statements are built from the table below and contain no text of a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vivero.storage.access.identities import LastAdmin, count_admins
from vivero.storage.cluster import routes
from vivero.storage.postgres.driver import Connection


@dataclass(frozen=True, slots=True)
class EntryKind:
    """A kind of entries. `kept`: the condition of entries that nobody may change or delete."""

    type: str
    table: str
    id: str
    columns: tuple[str, ...]
    kept: str = "false"
    taken: str = "false"
    """The condition that another entry has what must be unique; $1 is the id, and the columns follow."""
    used: str = "false"
    """The condition that something depends on the entry $1, so that it cannot be deleted."""


USER = EntryKind("USER", "users", "username", ("name", "email"))
GROUP = EntryKind("GROUP", "user_groups", "group_id", ("name", "description"))
ROLE = EntryKind("ROLE", "roles", "role_id", ("name", "description"), kept="built_in")
TENANT = EntryKind(
    "TENANT",
    "tenants",
    "tenant_id",
    ("name", "description"),
    kept="tenant_id = '<default>'",
    # A running instance has a definition that is not deleted.
    used="(EXISTS (SELECT FROM process_definitions d WHERE d.tenant_id = $1 AND d.state <> 'DELETED')"
    " OR EXISTS (SELECT FROM forms f WHERE f.tenant_id = $1 AND f.state <> 'DELETED')"
    " OR EXISTS (SELECT FROM decision_requirements r WHERE r.tenant_id = $1 AND r.state <> 'DELETED')"
    " OR EXISTS (SELECT FROM generic_resources g WHERE g.tenant_id = $1 AND g.state <> 'DELETED'))",
)
MAPPING_RULE = EntryKind(
    "MAPPING_RULE",
    "mapping_rules",
    "mapping_rule_id",
    ("name", "claim_name", "claim_value"),
    taken="EXISTS (SELECT FROM mapping_rules o"
    " WHERE o.mapping_rule_id <> $1 AND o.claim_name = $3 AND o.claim_value = $4)",
)

Values = Sequence[str | None]


async def create(connection: Connection, kind: EntryKind, id: str, values: Values, **more: str) -> bool:
    """Create an entry; `more` are further columns. False if its id, or what must be unique, is taken."""
    names = (kind.id, *kind.columns, *more)
    places = ", ".join(f"${i}" for i in range(1, len(names) + 1))
    text = f"INSERT INTO {kind.table} ({', '.join(names)}) VALUES ({places}) ON CONFLICT DO NOTHING RETURNING 1"
    return bool((await connection.execute(text, (id, *values, *more.values()))).rows)


async def update(connection: Connection, kind: EntryKind, id: str, values: Values) -> str:
    """Change an entry: "done", or why not: "unknown", "kept", "taken".

    Call it in a transaction: a late statement alone could undo a newer change.
    """
    changes = ", ".join(f"{column} = ${i}" for i, column in enumerate(kind.columns, 2))
    text = (
        f"WITH found AS (SELECT {kind.kept} AS kept, {kind.taken} AS taken FROM {kind.table} WHERE {kind.id} = $1),"
        f" changed AS (UPDATE {kind.table} SET {changes}"
        f" WHERE {kind.id} = $1 AND NOT {kind.kept} AND NOT {kind.taken} RETURNING 1)"
        f" SELECT CASE WHEN EXISTS (SELECT FROM changed) THEN 'done' WHEN kept THEN 'kept' ELSE 'taken' END FROM found"
    )
    rows = (await connection.execute(text, (id, *values))).rows
    return rows[0][0] if rows else "unknown"


async def exists(connection: Connection, kind: EntryKind, id: str) -> bool:
    """Whether there is an entry with this id."""
    text = f"SELECT FROM {kind.table} WHERE {kind.id} = $1"
    return bool((await connection.execute(text, (id,))).rows)


async def delete(connection: Connection, kind: EntryKind, id: str) -> str:
    """Delete an entry with its members, memberships, grants and views: a later one with its id must not inherit them.

    Gives "done", or why not: "unknown", "kept", "used". Raises LastAdmin: then the transaction must not commit.
    """
    if not connection.in_transaction:
        async with connection.transaction():
            return await delete(connection, kind, id)
    before = await count_admins(connection)
    if kind is TENANT:
        await routes.note_change(connection)  # pins, cluster variables and documents end with it
    text = f"DELETE FROM {kind.table} WHERE {kind.id} = $1 AND NOT {kind.kept} AND NOT {kind.used} RETURNING 1"
    if not (await connection.execute(text, (id,))).rows:
        return await _why_not(connection, kind, id)
    await connection.execute(
        "DELETE FROM members WHERE container_type = $1 AND container_id = $2 OR member_type = $1 AND member_id = $2",
        (kind.type, id),
    )
    if kind is USER:
        text = "DELETE FROM saved_views WHERE owner_type = $1 AND owner_id = $2 AND owner_provider = 'PASSWORD'"
        await connection.execute(text, (kind.type, id))
    if kind is TENANT:
        await connection.execute("DELETE FROM saved_views WHERE tenant_id = $1", (id,))
        await connection.execute("DELETE FROM alert_rules WHERE tenant_id = $1", (id,))
        await connection.execute("DELETE FROM model_drafts WHERE tenant_id = $1", (id,))
        await connection.execute("DELETE FROM cluster_variables WHERE tenant_id = $1", (id,))
        await connection.execute("UPDATE documents SET expires_at = '-infinity' WHERE tenant_id = $1", (id,))
        text = "UPDATE api_tokens SET tenants = array_remove(tenants, $1) WHERE $1 = ANY (tenants)"
        await connection.execute(text, (id,))
    await connection.execute("DELETE FROM authorizations WHERE owner_type = $1 AND owner_id = $2", (kind.type, id))
    if before and not await count_admins(connection):
        raise LastAdmin
    return "done"


async def _why_not(connection: Connection, kind: EntryKind, id: str) -> str:
    """The reason why an entry was not deleted."""
    rows = (await connection.execute(f"SELECT {kind.kept} FROM {kind.table} WHERE {kind.id} = $1", (id,))).rows
    return "unknown" if not rows else "kept" if rows[0][0] else "used"


@dataclass(frozen=True, slots=True)
class Authorization:
    """A grant: what an owner may do with a resource, with all of a type (`*`), or (without an id) by a property."""

    owner_type: str
    owner_id: str
    resource_type: str
    resource_id: str | None
    permission_types: tuple[str, ...]
    property_name: str | None = None

    @property
    def values(self) -> tuple[str | list[str] | None, ...]:
        owner, permissions = (self.owner_type, self.owner_id), list(self.permission_types)
        return *owner, self.resource_type, self.resource_id, permissions, self.property_name


_COLUMNS = "owner_type, owner_id, resource_type, resource_id, permission_types, resource_property_name"


async def create_authorization(connection: Connection, made: Authorization) -> int:
    """Store a grant. Returns its key."""
    text = f"INSERT INTO authorizations ({_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6) RETURNING authorization_key"
    key: int = (await connection.execute(text, made.values)).rows[0][0]
    return key


async def update_authorization(connection: Connection, key: int, changed: Authorization) -> bool:
    """Replace a grant, in a transaction of its own. False if there is none with this key."""
    text = f"UPDATE authorizations SET ({_COLUMNS}) = ($2, $3, $4, $5, $6, $7) WHERE authorization_key = $1 RETURNING 1"
    async with connection.transaction():
        return bool((await connection.execute(text, (key, *changed.values))).rows)


async def delete_authorization(connection: Connection, key: int) -> bool:
    """Delete a grant. False if there is none with this key."""
    text = "DELETE FROM authorizations WHERE authorization_key = $1 RETURNING 1"
    return bool((await connection.execute(text, (key,))).rows)
