"""The number of connections that a server grants to a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class Limit(NamedTuple):
    """A limit: the setting that makes it, how many sessions it allows, and how many nodes and other programs have."""

    setting: str
    sessions: int
    of_nodes: int
    of_others: int

    @property
    def free(self) -> int:
        """The number of further ones that there may be."""
        return max(0, self.sessions - self.of_nodes - self.of_others)

    def __str__(self) -> str:
        used = (("other nodes", self.of_nodes), ("other programs", self.of_others))
        taken = " and ".join(f"{count} by {who}" for who, count in used if count)
        return f"{self.setting}: {self.sessions}{f', {taken} in use' if taken else ''}"


async def limits(connection: Connection) -> Sequence[Limit]:
    """The limits for sessions of this user in this database."""
    return [Limit(*row) for row in (await connection.execute(_sql["limits"])).rows]
