"""The reads of the API other than searches (`storage.search.statements`), one statement each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class StoredAnswer(msgspec.Struct, frozen=True, gc=False):
    """The final state of an instance, and its variables as a JSON object."""

    state: str
    variables: bytes


async def cluster_id(connection: Connection) -> str:
    """The identity of the installation."""
    id: str = (await connection.execute(_sql["cluster_id"])).rows[0][0]
    return id


async def definition_xml(connection: Connection, key: int) -> bytes | None:
    """The deployed file of a process definition, None if the definition does not exist."""
    rows = (await connection.execute(_sql["definition_xml"], (key,))).rows
    return bytes(rows[0][0]) if rows else None


async def result(connection: Connection, instance_key: int, names: Sequence[str] | None) -> StoredAnswer | None:
    """The result of an instance with the variables of its outermost scope (only `names`); None before it has ended."""
    wanted = None if names is None else list(names)
    rows = (await connection.execute(_sql["result"], (instance_key, wanted))).rows
    return StoredAnswer(rows[0][0], (rows[0][1] or "{}").encode()) if rows else None


async def root_of_instance(connection: Connection, key: int) -> int | None:
    """The key of the root of a process instance's tree, None if the instance never existed."""
    rows = (await connection.execute(_sql["root_of_instance"], (key,))).rows
    return rows[0][0] if rows else None


async def element_exists(connection: Connection, key: int) -> bool:
    """Whether an element instance has, or had, this key."""
    return bool((await connection.execute(_sql["element_exists"], (key,))).rows)


async def scope(connection: Connection, key: int | None) -> tuple[int, bytes | None]:
    """The engine's time (epoch ms), and the variables that an element or process instance sees, as a JSON object.

    The variables are None if no such instance exists, and empty without a key.
    """
    now_ms, exists, variables = (await connection.execute(_sql["scope"], (key,))).rows[0]
    if key is not None and not exists:
        return now_ms, None
    return now_ms, (variables or "{}").encode()


async def user_task_exists(connection: Connection, key: int) -> bool:
    """Whether a user task has, or had, this key."""
    return bool((await connection.execute(_sql["user_task_exists"], (key,))).rows)


async def sequence_flows(connection: Connection, instance_key: int) -> bytes:
    """The sequence flows that an instance has taken: a JSON array with the API's fields."""
    return await _json(connection, "sequence_flows", instance_key)


async def call_hierarchy(connection: Connection, instance_key: int) -> bytes | None:
    """The instance and its callers, the root first: a JSON array. None if the instance does not exist."""
    rows = (await connection.execute(_sql["call_hierarchy"], (instance_key,))).rows
    return rows[0][0]  # type: ignore[no-any-return]  # JSON comes as bytes


async def instance_statistics(connection: Connection, instance_key: int) -> bytes:
    """The number of instances of each element in each state, for a process instance: a JSON array."""
    return await _json(connection, "instance_statistics", instance_key)


async def definition_statistics(connection: Connection, definition_key: int) -> bytes:
    """The number of instances of each element in each state, for all instances of a definition: a JSON array."""
    return await _json(connection, "definition_statistics", definition_key)


async def _json(connection: Connection, name: str, key: int) -> bytes:
    document: bytes = (await connection.execute(_sql[name], (key,))).rows[0][0]
    return document
