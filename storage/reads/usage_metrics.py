"""The use of the engine in a time: numbers of process instances, of evaluations of decisions, and of assignees.

Nothing counts while the engine runs: the numbers are those of rows. Triggers keep the numbers of deleted rows, by the
quarter of an hour in which these began. A time has the whole quarter if this begins in it, and before its end. Older
quarters of assignees become days, and all go in the end (`storage.retention.usage`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

NAMES = ("processInstances", "decisionInstances", "assignees")
"""The names of the numbers in the REST API."""

Numbers = dict[str, int]

_of_tenants = TenantStatements(__file__)


async def usage(
    connection: Connection, start: datetime, end: datetime, tenant: str | None, tenants: Tenants = None
) -> tuple[Numbers, Mapping[str, Numbers]]:
    """The numbers between two moments, both included: those of all tenants together, and by tenant with any.

    `tenant`: count this tenant only.
    """
    total, by_tenant = dict.fromkeys(NAMES, 0), dict[str, Numbers]()
    for id, name, number in (await _of_tenants.execute(connection, "usage_metrics", tenants, start, end, tenant)).rows:
        if id is None:
            total[name] = number
        else:
            by_tenant.setdefault(id, dict.fromkeys(NAMES, 0))[name] = number
    return total, by_tenant
