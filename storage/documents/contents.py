"""The contents of documents: uploads in parts that commit one by one, and the deletion of what nobody refers to."""

from __future__ import annotations

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)

STORED, GONE, FULL = "STORED", "GONE", "FULL"
"""The fate of a part. GONE: the upload was given up; FULL: the tenant may not have more bytes."""
DEAD_S = 3600.0
"""An upload without a part for this time is dead: its program was killed."""
PARTS = 64
"""The parts that one statement deletes: 16 MiB."""


async def begin(connection: Connection, tenant: str, store: str) -> int:
    """Begin an upload. Its key."""
    ((key,),) = (await connection.execute(_sql["begin"], (tenant, store))).rows
    return int(key)


async def add(connection: Connection, key: int, at: int, size: int, part: bytes | None, quota: int) -> str:
    """Add the next bytes, from the offset `at`: STORED, GONE or FULL. `part`: None if another store has the bytes.

    `quota`: the most bytes of the tenant; 0: no limit.
    """
    ((verdict,),) = (await connection.execute(_sql["add"], (key, at, size, part, quota))).rows
    return str(verdict)


async def complete(connection: Connection, key: int, sha256: str) -> int | None:
    """End an upload, in a transaction that adds its document.

    The key of the content with these bytes, which may be an older one; None if the upload was given up.
    """
    ((found,),) = (await connection.execute(_sql["complete"], (key, sha256))).rows
    return None if found is None else int(found)


async def give_up(connection: Connection, key: int) -> None:
    """Let an upload be deleted. Nothing happens to one that is complete."""
    await connection.execute(_sql["give_up"], (key,))


async def drop(connection: Connection, key: int, dead_s: float = DEAD_S) -> bool:
    """Delete some parts of an unused content, and at the end the content. True if something is left of it."""
    ((more,),) = (await connection.execute(_sql["drop"], (key, PARTS, dead_s))).rows
    return bool(more)


async def unused(connection: Connection, limit: int, dead_s: float = DEAD_S) -> list[tuple[int, str]]:
    """Contents to delete, and dead uploads: their keys and stores."""
    return [(key, store) for key, store in (await connection.execute(_sql["unused"], (dead_s, limit))).rows]


async def part(connection: Connection, key: int, offset: int, tenants: Tenants) -> tuple[int, bytes] | None:
    """The part with the byte at an offset: its first offset and its bytes. None if the content was deleted."""
    rows = (await _of_tenants.execute(connection, "part", tenants, key, offset)).rows
    return (int(rows[0][0]), bytes(rows[0][1])) if rows else None
