"""Drafts of models: what people edit and have not deployed yet, for all people of a tenant who may deploy."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


class SavedDraft(NamedTuple):
    """A draft after a change."""

    key: int
    version: int
    updated_at_ms: int


class FoundDraft(NamedTuple):
    """A draft that is there."""

    version: int
    updated_by: str
    updated_at_ms: int


class ModelDraft(NamedTuple):
    """A draft with its content."""

    key: int
    tenant: str
    name: str
    content: str
    version: int
    created_by: str
    created_at_ms: int
    updated_by: str
    updated_at_ms: int


async def add(
    connection: Connection, tenant: str, name: str, content: str, author: str, most: int
) -> SavedDraft | None:
    """Add a draft in the caller's transaction; None: the tenant has `most`."""
    await connection.execute(_sql["lock"])
    rows = (await connection.execute(_sql["add"], (tenant, name, content, author, most))).rows
    return SavedDraft(*rows[0]) if rows else None


async def change(
    connection: Connection, key: int, versions: Collection[int], name: str, content: str, author: str, tenants: Tenants
) -> SavedDraft | None:
    """Change a draft that has one of these versions, in the caller's transaction; None: it has not, or is not there."""
    values = (key, list(versions), name, content, author)
    rows = (await _of_tenants.execute(connection, "change", tenants, *values)).rows
    return SavedDraft(*rows[0]) if rows else None


async def find(connection: Connection, key: int, tenants: Tenants) -> FoundDraft | None:
    """The version of a draft, and who made it; None if there is no such draft."""
    rows = (await _of_tenants.execute(connection, "find", tenants, key)).rows
    return FoundDraft(*rows[0]) if rows else None


async def get(connection: Connection, key: int, tenants: Tenants) -> ModelDraft | None:
    """A draft with its content; None if there is no such draft."""
    rows = (await _of_tenants.execute(connection, "get", tenants, key)).rows
    return ModelDraft(*rows[0]) if rows else None


async def delete(connection: Connection, key: int, tenants: Tenants) -> bool:
    """Delete a draft in the caller's transaction. Returns whether it was there."""
    return bool((await _of_tenants.execute(connection, "delete", tenants, key)).rows)
