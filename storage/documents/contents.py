"""The contents of documents: uploads in parts that commit one by one, and the deletion of what nobody refers to."""

from __future__ import annotations

from typing import NamedTuple

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


class StoredContents(NamedTuple):
    """The contents of a store. `complete` ones have documents, `unused` ones wait for their deletion."""

    store: str
    complete: int
    bytes: int
    unused: int


async def begin(connection: Connection, tenant: str, store: str, object_name: str | None = None) -> int:
    """Begin an upload. Its key. `object_name`: its name in another store than the database."""
    ((key,),) = (await connection.execute(_sql["begin"], (tenant, store, object_name))).rows
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


async def give_up(connection: Connection, key: int, certain: bool = True) -> bool:
    """Let an upload be deleted: now, or in an hour unless it is certain that no bytes come.

    False if a document has it. True also if it is deleted already.
    """
    if (await connection.execute(_sql["give_up"], (key, certain))).count:
        return True
    return not (await connection.execute(_sql["complete_one"], (key,))).count


async def drop(connection: Connection, key: int, dead_s: float = DEAD_S) -> bool:
    """Delete some parts of an unused content of the database, and at the end the content. True if something is left."""
    ((more,),) = (await connection.execute(_sql["drop"], (key, PARTS, dead_s))).rows
    return bool(more)


async def unused(connection: Connection, store: str, limit: int, dead_s: float = DEAD_S) -> list[int]:
    """The keys of contents of a store that are to be deleted, and of dead uploads."""
    return [key for (key,) in (await connection.execute(_sql["unused"], (store, dead_s, limit))).rows]


async def claim(
    connection: Connection, store: str, after: int, limit: int, dead_s: float = DEAD_S
) -> list[tuple[int, str]]:
    """Unused contents of another store behind a key, which get no more bytes from now on: keys and object names."""
    return sorted((await connection.execute(_sql["claim"], (store, after, dead_s, limit))).rows)


async def forget(connection: Connection, key: int) -> None:
    """Forget an unused content whose object is deleted. Its tenant has its bytes again."""
    await connection.execute(_sql["forget"], (key,))


async def known(connection: Connection, store: str) -> bool:
    """Whether documents are in this store."""
    return bool((await connection.execute(_sql["known"], (store,))).rows[0][0])


async def by_store(connection: Connection, unused_s: float) -> list[StoredContents]:
    """The figures of each store. `unused_s`: the time for which unused contents are nobody's business."""
    return [StoredContents(*row) for row in (await connection.execute(_sql["by_store"], (unused_s,))).rows]


async def part(connection: Connection, key: int, offset: int, tenants: Tenants) -> tuple[int, bytes] | None:
    """The part with the byte at an offset: its first offset and its bytes. None if the content was deleted."""
    rows = (await _of_tenants.execute(connection, "part", tenants, key, offset)).rows
    return (int(rows[0][0]), bytes(rows[0][1])) if rows else None
