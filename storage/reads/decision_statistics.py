"""Numbers of evaluations of decisions and of matches of each rule, in the decision instances that are kept.

Nothing counts while decisions are evaluated. Therefore each statement looks at a bounded number of rows, and says
whether there are more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

COUNTED = 1_000
"""The most decision instances of a version that `counts` looks at."""
LOOKED_AT = 10_000
"""The most decision instances of a version that `rules` looks at."""
RULES_BYTES = 4 * 1024 * 1024
"""The bytes of matched rules, as they are stored, after which `rules` looks at no further decision instance."""

_of_tenants = TenantStatements(__file__)


async def counts(
    connection: Connection, keys: Sequence[int], ids: Collection[str] | None, tenants: Tenants = None
) -> bytes:
    """The numbers of evaluations and failures by version: a JSON array. `ids`: those that count; None: all."""
    among = None if ids is None else sorted(ids)
    rows = (await _of_tenants.execute(connection, "decision_counts", tenants, list(keys), among, COUNTED)).rows
    document: bytes = rows[0][0]
    return document


async def rules(connection: Connection, key: int, tenants: Tenants = None) -> bytes | None:
    """The number of matches of each rule of a version: a JSON object. None if the version does not exist."""
    rows = (await _of_tenants.execute(connection, "decision_rules", tenants, key, LOOKED_AT, RULES_BYTES)).rows
    return rows[0][0] if rows else None
