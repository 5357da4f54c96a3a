"""Comments on user tasks: what people write for those who work on the task after them."""

from __future__ import annotations

from typing import NamedTuple

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

_of_tenants = TenantStatements(__file__)


class Added(NamedTuple):
    """A new comment: its key, and its time in epoch ms. Both are None if the task has too many comments."""

    key: int | None
    at_ms: int | None


async def add(
    connection: Connection, task: int, author: str, text: str, most: int, tenants: Tenants = None
) -> Added | None:
    """Add a comment to a task of these tenants, unless it has `most`. None: there is no such task."""
    rows = (await _of_tenants.execute(connection, "add", tenants, task, author, text, most)).rows
    return Added(*rows[0]) if rows else None
