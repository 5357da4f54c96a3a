"""The deletion of decision instances. The engine never reads them, so none of it goes through the log.

Those of business rule tasks are deleted with their trees (`history`), too.
"""

from __future__ import annotations

from collections.abc import Sequence

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


async def decisions_of(connection: Connection, evaluation: int, tenants: Tenants = None) -> dict[str, int]:
    """The ids of the decisions of an evaluation, with the number of their instances; empty if these tenants have no
    such evaluation."""
    return dict((await _of_tenants.execute(connection, "decisions", tenants, evaluation)).rows)


async def delete_evaluations(
    connection: Connection, keys: Sequence[int], decisions: Sequence[str] | None = None
) -> dict[int, bool]:
    """Delete all decision instances of evaluations. Returns those that there were, and whether each is deleted.

    An evaluation with another decision than `decisions` (None: all) is left as it is.
    """
    values = (list(keys), None if decisions is None else list(decisions))
    return dict((await connection.execute(_sql["delete"], values)).rows)


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Delete up to `limit` decision instances of no process instance that are older, the oldest first."""
    return (await connection.execute(_sql["purge"], (age_ms, limit))).count
