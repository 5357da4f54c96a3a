"""What the API reads apart from searches (`storage.search.statements`): one statement each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class Partition(msgspec.Struct, frozen=True, gc=False):
    """A partition; `owner` is the name of the node that leads it, None when none does."""

    id: int
    owner: str | None


class Cluster(msgspec.Struct, frozen=True, gc=False):
    """The installation, and who leads what."""

    id: str
    partitions: tuple[Partition, ...]


class StoredAnswer(msgspec.Struct, frozen=True, gc=False):
    """How an instance ended, and its variables as a JSON object."""

    state: str
    variables: bytes


async def cluster(connection: Connection) -> Cluster:
    """The installation as it is at the moment."""
    rows = (await connection.execute(_sql["cluster"])).rows
    return Cluster(rows[0][2], tuple(Partition(id, owner) for id, owner, _ in rows))


async def definition_xml(connection: Connection, key: int) -> bytes | None:
    """The file that a process definition came in; None when there is no such definition."""
    rows = (await connection.execute(_sql["definition_xml"], (key,))).rows
    return bytes(rows[0][0]) if rows else None


async def result(connection: Connection, instance_key: int, names: Sequence[str] | None) -> StoredAnswer | None:
    """How an instance ended, with the variables of its outermost scope (`names`: only those); None if it has not."""
    wanted = None if names is None else list(names)
    rows = (await connection.execute(_sql["result"], (instance_key, wanted))).rows
    return StoredAnswer(rows[0][0], (rows[0][1] or "{}").encode()) if rows else None


async def root_of_instance(connection: Connection, key: int) -> int | None:
    """The key of the root of a process instance's tree; None when there is no such instance, and never was."""
    rows = (await connection.execute(_sql["root_of_instance"], (key,))).rows
    return rows[0][0] if rows else None


async def element_exists(connection: Connection, key: int) -> bool:
    """Whether there is, or was, an element instance with this key."""
    return bool((await connection.execute(_sql["element_exists"], (key,))).rows)


async def scope(connection: Connection, key: int | None) -> tuple[int, bytes | None]:
    """The engine's time (epoch ms), and the variables that an element or process instance sees, as a JSON object.

    None instead of variables when there is no such scope; without a key there are none.
    """
    now_ms, exists, variables = (await connection.execute(_sql["scope"], (key,))).rows[0]
    if key is not None and not exists:
        return now_ms, None
    return now_ms, (variables or "{}").encode()


async def user_task_exists(connection: Connection, key: int) -> bool:
    """Whether there is, or was, a user task with this key."""
    return bool((await connection.execute(_sql["user_task_exists"], (key,))).rows)


async def sequence_flows(connection: Connection, instance_key: int) -> bytes:
    """The sequence flows that an instance has taken: a JSON array, in the words of the API."""
    return await _json(connection, "sequence_flows", instance_key)


async def call_hierarchy(connection: Connection, instance_key: int) -> bytes | None:
    """The instance and who called it, the root first: a JSON array; None when there is no such instance."""
    rows = (await connection.execute(_sql["call_hierarchy"], (instance_key,))).rows
    return rows[0][0]  # type: ignore[no-any-return]  # JSON comes as bytes


async def instance_statistics(connection: Connection, instance_key: int) -> bytes:
    """How many instances of each element a process instance has in each state: a JSON array."""
    return await _json(connection, "instance_statistics", instance_key)


async def definition_statistics(connection: Connection, definition_key: int) -> bytes:
    """Of all instances of a definition together: a JSON array."""
    return await _json(connection, "definition_statistics", definition_key)


async def _json(connection: Connection, name: str, key: int) -> bytes:
    document: bytes = (await connection.execute(_sql[name], (key,))).rows[0][0]
    return document
