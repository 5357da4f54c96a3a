"""Commands that holds of migrations keep in the inbox of a partition, as a new term finds them (docs/adr/0088)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vivero.core.records.instances import EndHold
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class HeldCommands(NamedTuple):
    """`waiting`: root of a tree → its tenant, and how many commands are held. `returning`: root → how many `EndHold`
    commands are on their way.
    """

    waiting: Mapping[int, tuple[str, int]]
    returning: Mapping[int, int]


NOTHING_HELD = HeldCommands({}, {})


async def held(connection: Connection, partition: int, position: int) -> HeldCommands:
    """Those of a partition whose log is processed up to `position`."""
    waiting, returning = await connection.pipeline(
        [(_sql["waiting"], (partition,)), (_sql["returning"], (partition, position, EndHold.intent))]
    )
    return HeldCommands({root: (tenant, commands) for root, tenant, commands in waiting.rows}, dict(returning.rows))
