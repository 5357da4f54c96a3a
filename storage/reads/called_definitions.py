"""The definitions of called instances that a migration of their callers may take along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

_of_tenants = TenantStatements(__file__)

CALLERS = 1_000
INSTANCES = 20_000
"""Callers and called instances that are looked at, at most."""
DEFINITIONS = 50
"""Definitions that are found, at most. The models of each are read and compared."""


class CalledDefinition(NamedTuple):
    """A definition of called instances, and the latest version of its process.

    `active`: the number of its instances among those that were looked at.
    """

    key: int
    process_id: str
    version: int
    active: int
    latest: int
    latest_version: int


async def outdated(
    connection: Connection, caller: int, calls: Sequence[str], tenants: Tenants = None
) -> list[CalledDefinition]:
    """The definitions of called instances below the instances of `caller`, unless they are the latest version.

    `calls`: the ids of its call activities.
    """
    limits = CALLERS, INSTANCES, DEFINITIONS
    rows = (await _of_tenants.execute(connection, "outdated", tenants, caller, list(calls), *limits)).rows
    return [CalledDefinition(*row) for row in rows]
