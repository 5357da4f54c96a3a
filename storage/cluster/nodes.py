"""The nodes of the cluster: running programs on one database, each with a heartbeat."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec

from vivero.storage.cluster.leadership import LEASE_S
from vivero.storage.postgres.driver import Call, Connection, QueryResult
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

NODES_CHANNEL = "vivero_nodes"
"""The channel of NOTIFY that tells nodes to look at each other and at the partitions."""
ENGINE = "engine"
"""The role of nodes that lead partitions."""
LIVE_S = 5.0
"""A node whose last heartbeat is older is taken for dead."""
_VIEW: Call = _sql["view"], (LIVE_S, LEASE_S)


class Registration(msgspec.Struct, frozen=True):
    """A node's description of itself. `schema` is the version of the schema that it knows."""

    id: str
    roles: Sequence[str]
    version: str
    schema: int
    host: str
    port: int
    address: str | None = None
    """The URL at which clients reach it; None if nobody knows."""


class Node(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A node. `ready` are partitions of other nodes that it can lead at once. `log_levels` are changed levels of single
    loggers. Times are in epoch ms, real time. `address` is the URL at which clients reach it, if it told one."""

    id: str
    number: int
    roles: tuple[str, ...]
    version: str
    schema: int
    host: str
    port: int
    draining: bool
    live: bool
    ready: tuple[int, ...]
    started_ms: int
    heartbeat_ms: int
    log_levels: dict[str, str] = {}
    address: str | None = None


class Partition(msgspec.Struct, frozen=True, gc=False):
    """A partition. `owner` led it last and did not hand it over. `free` tells whether any node may claim it."""

    id: int
    owner: str | None
    free: bool
    epoch: int = 0

    @property
    def leader(self) -> str | None:
        """The node that leads it now."""
        return None if self.free else self.owner


class Running(NamedTuple):
    """A node that runs now, as far as every schema knows it."""

    id: str
    version: str
    host: str
    port: int
    roles: Sequence[str]


class ClusterView(msgspec.Struct, frozen=True, gc=False):
    """The nodes, the oldest first, the partitions, and the latest migration that ran alone, at one moment."""

    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]
    alone: int = 0


_nodes_decoder = msgspec.json.Decoder(tuple[Node, ...])
_partitions_decoder = msgspec.json.Decoder(tuple[Partition, ...])


async def register(connection: Connection, node: Registration) -> None:
    """Adds the node, whose heartbeats come on `connection` from now on."""
    values = (node.id, list(node.roles), node.version, node.schema, node.host, node.port, node.address)
    await connection.execute(_sql["register"], values)


async def beat(connection: Connection, id: str, ready: Collection[int] = ()) -> ClusterView | None:
    """Makes a heartbeat of a node, which is ready to lead these partitions, and shows the whole cluster then.

    Both take one round trip and one transaction. None if the node has not registered here.
    """
    beaten, shown = await connection.pipeline([(_sql["beat"], (id, list(ready))), _VIEW])
    return _view_of(shown) if beaten.rows else None


async def view(connection: Connection) -> ClusterView:
    """The whole cluster now."""
    return _view_of(await connection.execute(*_VIEW))


def _view_of(result: QueryResult) -> ClusterView:
    ((nodes, partitions, alone),) = result.rows
    return ClusterView(_nodes_decoder.decode(nodes or "[]"), _partitions_decoder.decode(partitions), alone)


async def leave(connection: Connection, id: str) -> None:
    """Removes a node that stops, and makes the others look."""
    await connection.execute(_sql["leave"], (id, NODES_CHANNEL))


async def running(connection: Connection) -> list[Running]:
    """The nodes that run now, by any schema: a program asks before it migrates. Without the table there are none."""
    ((exists,),) = (await connection.execute(_sql["exists"])).rows
    return [Running(*row) for row in (await connection.execute(_sql["running"], (LIVE_S,))).rows] if exists else []


async def set_draining(connection: Connection, id: str, draining: bool) -> bool:
    """Asks a node to hand its partitions over, or takes that back. False if there is no such node."""
    return await _set(connection, "set_draining", id, draining)


async def set_log_levels(connection: Connection, id: str, levels: Mapping[str, str]) -> bool:
    """Replaces the changed levels of a node's loggers. False if there is no such node."""
    return await _set(connection, "set_log_levels", id, msgspec.json.encode(levels).decode())


async def _set(connection: Connection, statement: str, id: str, value: bool | str) -> bool:
    """A change by the operator. Each heartbeat changes the version of the row, so it is tried until one fits."""
    while rows := (await connection.execute(_sql["row_version"], (id,))).rows:
        if (await connection.execute(_sql[statement], (id, value, NODES_CHANNEL, rows[0][0]))).rows:
            return True
    return False
