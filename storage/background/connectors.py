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


async def texts_in_resources(
    connection: Connection, sha256s: Collection[str], texts: Collection[str]
) -> dict[str, frozenset[str]]:
    """Those of the texts that each of these deployed files contains."""
    found: dict[str, set[str]] = {sha: set() for sha in sha256s}
    if found:
        for sha, text in (await connection.execute(_sql["texts_in_resources"], (list(found), list(texts)))).rows:
            found[sha].add(text)
    return {sha: frozenset(contained) for sha, contained in found.items()}
