"""The newest commands of a partition's log, for people."""

from __future__ import annotations

from typing import NamedTuple

from vivero.core.records.effects import Rejection
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.log.command_log import decode_rejection
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_PARTITIONS = _sql["partitions"]
_of_tenants = TenantStatements(__file__)


class RecentCommand(NamedTuple):
    """A command without its events. `processed_at_ms` is None while it is pending."""

    position: int
    tenant: str
    intent: str
    change: str | None
    """The intent of the command that a conditional one contains."""
    key: int | None
    appended_at_ms: int
    processed_at_ms: int | None
    rejection: Rejection | None


async def partitions(connection: Connection) -> list[int]:
    """The numbers of all partitions, in order."""
    return [number for (number,) in (await connection.execute(_PARTITIONS)).rows]


async def recent(
    connection: Connection, partition: int, before: int, limit: int, tenants: Tenants = None
) -> list[RecentCommand]:
    """Up to `limit` commands of these tenants in a partition before a position, newest first."""
    found = await _of_tenants.execute(connection, "recent", tenants, partition, before, limit)
    return [RecentCommand._make((*values, decode_rejection(rejection))) for *values, rejection in found.rows]
