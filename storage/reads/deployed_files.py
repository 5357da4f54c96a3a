"""The forms and generic resources that are deployed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
FORM, RESOURCE = "form", "resource"
"""Kinds of files, as messages name them."""


class FileName(NamedTuple):
    """A form or a generic resource as a process names it. `version_tag`: None for the latest version."""

    kind: str
    id: str
    version_tag: str | None = None


async def missing(connection: Connection, tenant: str, names: Collection[FileName]) -> frozenset[FileName]:
    """Those of the files that the tenant does not have."""
    asked = sorted(names, key=lambda name: (name.kind, name.id, name.version_tag or ""))
    columns = [[name.kind for name in asked], [name.id for name in asked], [name.version_tag for name in asked]]
    rows = (await connection.execute(_sql["missing"], (tenant, *columns))).rows
    return frozenset(FileName(*row) for row in rows)
