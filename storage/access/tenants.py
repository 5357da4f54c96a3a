"""The tenants that a reader may see, as a condition of statements.

Row-level security (`row_security`) hides the rows of other tenants, too. Every statement has its own condition all the
same: each of the two must suffice alone.
"""

from __future__ import annotations

from collections.abc import Collection

from vivero.core.records.base import DEFAULT_TENANT
from vivero.storage.postgres import sql_files
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.queries import Call
from vivero.storage.postgres.results import QueryResult
from vivero.storage.postgres.values import Params

Tenants = Collection[str] | None
"""Ids of tenants; None: all, without any condition."""

_SCOPE = sql_files.statement(
    "tenants.scope",
    "SELECT set_config('vivero.tenants', $1::text[]::text, true)",
    "For one transaction: the policies of row-level security read the setting.",
)

_KEEP = sql_files.statement(
    "tenants.keep",
    "SELECT FROM tenants WHERE tenant_id = $1 FOR KEY SHARE",
    "Before rows of the tenant, in the order of its deletion: that one waits, or is over and gives no row.",
)


def names_one(text: str) -> bool:
    """Whether the tenants of a command (`core.partitions.tenants`) are a single one."""
    return "," not in text and text != "*"


def scope(tenants: Collection[str]) -> Call:
    """The statement that begins each transaction of a reader: it names the tenants for row-level security."""
    return _SCOPE, (sorted(tenants),)


async def keep(connection: Connection, tenant: str) -> bool:
    """Keep a tenant until the caller's transaction ends. False if there is none. Nobody deletes the default one."""
    return tenant == DEFAULT_TENANT or bool((await connection.execute(_KEEP, (tenant,))).rows)


class TenantStatements:
    """The statements beside a module that have a condition on the tenant, each with it and without it.

    In the .sql file the condition is a line, `-- only tenants: AND tenant_id = ANY ($2::text[])`. The ids of the
    tenants are the last parameter.
    """

    def __init__(self, module_file: str) -> None:
        limited = sql_files.beside(module_file, "tenants")
        self._plain = {
            name: each for name, each in sql_files.beside(module_file).items() if each.text != limited[name].text
        }
        self._limited = {name: limited[name] for name in self._plain}

    async def execute(self, connection: Connection, name: str, tenants: Tenants, *values: object) -> QueryResult:
        """Run a statement for these tenants."""
        if tenants is None:
            return await connection.execute(self._plain[name], values)
        params: Params = (*values, sorted(tenants))
        return await connection.execute(self._limited[name], params)
