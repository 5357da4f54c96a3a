"""The forms that are deployed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class FormName(NamedTuple):
    """A form as a process names it. `version_tag`: None for the latest version."""

    id: str
    version_tag: str | None = None


async def missing(connection: Connection, tenant: str, names: Collection[FormName]) -> frozenset[FormName]:
    """Those of the forms that the tenant does not have."""
    asked = sorted(names, key=lambda name: (name.id, name.version_tag or ""))
    parameters = (tenant, [name.id for name in asked], [name.version_tag for name in asked])
    rows = (await connection.execute(_sql["missing"], parameters)).rows
    return frozenset(FormName(*row) for row in rows)
