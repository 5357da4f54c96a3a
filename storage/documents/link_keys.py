"""The secrets that sign links to documents, by real time. They are rows, so that every node knows them."""

from __future__ import annotations

from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class LinkKey(NamedTuple):
    """A secret. `signs`: it is young enough to sign new links."""

    id: int
    secret: bytes
    signs: bool


async def valid(connection: Connection, signs_s: float, valid_s: float) -> list[LinkKey]:
    """The keys that are younger than `valid_s`, the newest first."""
    rows = (await connection.execute(_sql["valid"], (signs_s, valid_s))).rows
    return [LinkKey(id, bytes(secret), signs) for id, secret, signs in rows]


async def add(connection: Connection, secret: bytes) -> None:
    """Add a key, which signs from now on."""
    await connection.execute(_sql["add"], (secret,))


async def purge(connection: Connection, age_s: float, limit: int) -> int:
    """Delete older keys; their number."""
    return (await connection.execute(_sql["purge"], (age_s, limit))).count


async def until(connection: Connection, ttl_ms: int) -> int:
    """The time, in epoch ms, at which a link of now ends."""
    ((end,),) = (await connection.execute(_sql["until"], (ttl_ms,))).rows
    return int(end)
