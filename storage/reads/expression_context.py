"""The values of the context `camunda`, for a client that evaluates an expression."""

from __future__ import annotations

from collections.abc import Collection

from vivero.core.expressions.camunda_context import ExpressionContext
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql, _of_tenants = beside(__file__), TenantStatements(__file__)


async def read(
    connection: Connection, scope_key: int | None, tenant: str | None, tenants: Tenants = None
) -> ExpressionContext:
    """The context in the scope of an element or process instance, whose tenant counts then; else that of `tenant`.

    Without a tenant it has the variables of the cluster alone.
    """
    key, business_id = None, None
    if scope_key is not None:
        for found in (await _of_tenants.execute(connection, "instance", tenants, scope_key)).rows:
            tenant, key, business_id = found
    of_cluster, of_tenant = (await connection.execute(_sql["variables"], (tenant or "",))).rows[0]
    return ExpressionContext(of_cluster.encode(), of_tenant.encode(), key, business_id)


async def known(connection: Connection, tenant: str, names: Collection[str]) -> frozenset[tuple[str, str]]:
    """The variables with these names that a tenant sees, as pairs of tenant (empty: the cluster) and name."""
    rows = (await connection.execute(_sql["known"], (tenant, list(names)))).rows
    return frozenset((tenant, name) for tenant, name in rows)
