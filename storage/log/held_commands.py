"""Commands that holds of migrations keep in the inbox of a partition, as a new term finds them (docs/adr/0088)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vivero.core.execution.held_commands import HeldBefore
from vivero.core.records.instances import EndHold
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class HeldCommands(NamedTuple):
    """`waiting`: root of a tree → the commands that are held. `returning`: root → how many `EndHold` commands are on
    their way.
    """

    waiting: Mapping[int, HeldBefore]
    returning: Mapping[int, int]


NOTHING_HELD = HeldCommands({}, {})


async def held(connection: Connection, partition: int, position: int) -> HeldCommands:
    """Those of a partition whose log is processed up to `position`."""
    waiting, returning = await connection.pipeline(
        [(_sql["waiting"], (partition,)), (_sql["returning"], (partition, position, EndHold.intent))]
    )
    return HeldCommands({root: HeldBefore(*found) for root, *found in waiting.rows}, dict(returning.rows))
