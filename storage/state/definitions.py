"""Deployed resources by content, and the metadata of process definitions."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_STORE, _RESOURCE = _sql["store_resources"], _sql["resource"]
_DEFINITION, _LATEST, _IN_USE = _sql["definition"], _sql["latest_definition"], _sql["definitions_in_use"]


class DefinitionRow(msgspec.Struct, frozen=True, gc=False):
    """The metadata of a process definition. The file with the SHA-256 `sha256` contains its model."""

    key: int
    deployment_key: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource_name: str
    sha256: str
    state: str
    """ACTIVE, DRAINING or DELETED."""
    deployed_at_ms: int


async def store_resources(connection: Connection, resources: Sequence[tuple[str, bytes]]) -> None:
    """Stores deployed files under the SHA-256 (hex) of their bytes. Files that exist stay unchanged.

    It renews the date of existing files: the task that deletes unreferenced resources then keeps them for the
    deployment that is under way.
    """
    rows = [{"sha256": sha256, "bytes": base64.b64encode(data).decode()} for sha256, data in resources]
    await connection.execute(_STORE, (msgspec.json.encode(rows),))


async def resource(connection: Connection, sha256: str) -> bytes | None:
    """The bytes of a deployed file, None if it is unknown."""
    rows = (await connection.execute(_RESOURCE, (sha256,))).rows
    return bytes(rows[0][0]) if rows else None


async def definition(connection: Connection, tenant: str, key: int) -> DefinitionRow | None:
    """The definition with this key, in any state; None if the tenant has none."""
    return _first((await connection.execute(_DEFINITION, (key, tenant))).rows)


async def latest(connection: Connection, tenant: str, process_id: str) -> DefinitionRow | None:
    """The highest active version of a process, None if there is none."""
    return _first((await connection.execute(_LATEST, (tenant, process_id))).rows)


async def in_use(connection: Connection, limit: int) -> list[DefinitionRow]:
    """Up to `limit` definitions: those with running instances, the busiest first, then the newest active ones."""
    return [DefinitionRow(*row) for row in (await connection.execute(_IN_USE, (limit,))).rows]


def _first(rows: list[tuple[object, ...]]) -> DefinitionRow | None:
    return DefinitionRow(*rows[0]) if rows else None  # type: ignore[arg-type]
