"""Jobs of connectors: which tenants have some. `activation` leases them, as for any worker."""

from __future__ import annotations

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


async def tenants(connection: Connection, type: str) -> set[str]:
    """The tenants with open jobs of a type."""
    return {tenant for (tenant,) in (await connection.execute(_sql["tenants"], (type,))).rows}
