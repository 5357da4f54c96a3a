"""The tenants that a reader may see, as a condition of statements.

Row-level security (`row_security`) hides the rows of other tenants, too. Every statement has its own condition all the
same: each of the two must suffice alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from vivero.storage.postgres import sql_files
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.queries import Call
from vivero.storage.postgres.results import QueryResult
from vivero.storage.postgres.sql_files import Statement
from vivero.storage.postgres.values import Params

Tenants = Collection[str] | None
"""Ids of tenants; None: all, without any condition."""

_CONDITION = re.compile(r"\s*/\* tenants: (.*?) \*/", re.DOTALL)
_SCOPE = sql_files.statement(
    "tenants.scope",
    "SELECT set_config('vivero.tenants', $1::text[]::text, true)",
    "For one transaction: the policies of row-level security read the setting.",
)


def names_one(text: str) -> bool:
    """Whether the tenants of a command (`core.partitions.tenants`) are a single one."""
    return "," not in text and text != "*"


def scope(tenants: Collection[str]) -> Call:
    """The statement that begins each transaction of a reader: it names the tenants for row-level security."""
    return _SCOPE, (sorted(tenants),)


class TenantStatements:
    """Named statements, each with a condition on the tenant and without it.

    In the .sql file the condition is a comment, `/* tenants: AND tenant_id = ANY ($2::text[]) */`. The ids of the
    tenants are the last parameter.
    """

    def __init__(self, statements: Mapping[str, Statement]) -> None:
        self._plain = {name: _with(each, "") for name, each in statements.items()}
        self._limited = {name: _with(each, r" \1") for name, each in statements.items()}

    async def execute(self, connection: Connection, name: str, tenants: Tenants, *values: object) -> QueryResult:
        """Run a statement for these tenants."""
        if tenants is None:
            return await connection.execute(self._plain[name], values)
        params: Params = (*values, sorted(tenants))
        return await connection.execute(self._limited[name], params)


def _with(statement: Statement, condition: str) -> Statement:
    return sql_files.statement(statement.name, _CONDITION.sub(condition, statement.text), statement.why)
