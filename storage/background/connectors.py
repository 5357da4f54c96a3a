"""Queries of connectors: the tenants with jobs, and the definitions with webhooks. `activation` leases the jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


async def waiting(connection: Connection, types: Sequence[str]) -> set[tuple[str, str]]:
    """The types and tenants with open jobs of these types."""
    return {(type, tenant) for type, tenant in (await connection.execute(_sql["waiting"], (list(types),))).rows}


class LatestDefinition(msgspec.Struct, frozen=True, gc=False):
    """The latest active version of a process. `sha256`: of its file."""

    key: int
    tenant: str
    process_id: str
    sha256: str
    resource_name: str


async def latest_definitions(connection: Connection) -> list[LatestDefinition]:
    """The latest active version of each process of each tenant."""
    return [LatestDefinition(*row) for row in (await connection.execute(_sql["latest_definitions"])).rows]


async def resources_with(connection: Connection, sha256s: Collection[str], text: str) -> set[str]:
    """Those of the deployed files that contain a text."""
    if not sha256s:
        return set()
    return {sha for (sha,) in (await connection.execute(_sql["resources_with"], (list(sha256s), text))).rows}
