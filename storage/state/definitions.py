"""Deployed resources by content, and the metadata of process definitions."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_STORE, _RESOURCE = _sql["store_resources"], _sql["resource"]
_SOURCE, _IN_USE = _sql["definition_source"], _sql["definitions_in_use"]
_DECISIONS_IN_USE = _sql["decisions_in_use"]


async def store_resources(connection: Connection, resources: Sequence[tuple[str, bytes]]) -> None:
    """Stores deployed files under the SHA-256 (hex) of their bytes. Files that exist stay unchanged.

    Files that were unused count as new: the chore that deletes them keeps them for the deployment that is under way.
    """
    rows = [{"sha256": sha256, "bytes": base64.b64encode(data).decode()} for sha256, data in resources]
    await connection.execute(_STORE, (msgspec.json.encode(rows),))


async def resource(connection: Connection, sha256: str) -> bytes | None:
    """The bytes of a deployed file, None if it is unknown."""
    rows = (await connection.execute(_RESOURCE, (sha256,))).rows
    return bytes(rows[0][0]) if rows else None


async def source(connection: Connection, tenant: str, key: int) -> tuple[str, str] | None:
    """The SHA-256 of a definition's file, and its process id. It may be in any state. None: the tenant has none."""
    rows = (await connection.execute(_SOURCE, (key, tenant))).rows
    return (rows[0][0], rows[0][1]) if rows else None


async def in_use(connection: Connection, limit: int) -> list[str]:
    """The files of up to `limit` definitions: those with running instances, the busiest first, then the newest active
    ones. By their SHA-256; a file may come several times.
    """
    return [row[0] for row in (await connection.execute(_IN_USE, (limit,))).rows]


async def decisions_in_use(connection: Connection, limit: int) -> list[tuple[str, ...]]:
    """Up to `limit` files of decisions, the newest first: the SHA-256 of each, and of those that it imports."""
    rows = (await connection.execute(_DECISIONS_IN_USE, (limit,))).rows
    return [(row[0], *row[1]) for row in rows]
