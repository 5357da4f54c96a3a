"""The reads of the API other than searches (`storage.search.statements`), one statement each.

`tenants`: those whose rows the reader may see. Rows of other tenants do not exist for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.results import QueryResult
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


class StoredAnswer(msgspec.Struct, frozen=True, gc=False):
    """The final state of an instance, and its variables as a JSON object."""

    state: str
    variables: bytes


class ElementDurations(msgspec.Struct, frozen=True, gc=False):
    """The histogram of an element: (bucket, number) pairs (`storage.state.durations`), and their sum in ms."""

    element: str
    histogram: list[tuple[int, int]]
    total_ms: float


class StoredForm(msgspec.Struct, frozen=True, gc=False):
    """A version of a form, with its file."""

    key: int
    form_id: str
    version: int
    tenant: str
    content: bytes


class StoredFile(msgspec.Struct, frozen=True, gc=False):
    """A version of a generic resource: its name in its deployment, and its bytes."""

    key: int
    name: str
    content: bytes


async def cluster_id(connection: Connection) -> str:
    """The identity of the installation."""
    id: str = (await connection.execute(_sql["cluster_id"])).rows[0][0]
    return id


async def moment(connection: Connection) -> datetime:
    """The time by the engine's clock."""
    now: datetime = (await connection.execute(_sql["moment"])).rows[0][0]
    return now


async def definition_xml(connection: Connection, key: int, tenants: Tenants = None) -> bytes | None:
    """The deployed file of a process definition, None if the definition does not exist."""
    return await _file(connection, "definition_xml", tenants, key)


async def process_source(connection: Connection, key: int, tenants: Tenants = None) -> tuple[str, bytes] | None:
    """The id of a process and the file that defines it; None if the definition does not exist."""
    rows = (await _of_tenants.execute(connection, "process_source", tenants, key)).rows
    return (rows[0][0], bytes(rows[0][1])) if rows else None


async def decision_xml(connection: Connection, key: int, tenants: Tenants = None) -> bytes | None:
    """The deployed file of a decision, None if the decision does not exist."""
    return await _file(connection, "decision_xml", tenants, key)


async def decision_requirements_xml(connection: Connection, key: int, tenants: Tenants = None) -> bytes | None:
    """The deployed file of decision requirements, None if they do not exist."""
    return await _file(connection, "decision_requirements_xml", tenants, key)


async def _file(connection: Connection, statement: str, tenants: Tenants, key: int) -> bytes | None:
    rows = (await _of_tenants.execute(connection, statement, tenants, key)).rows
    return bytes(rows[0][0]) if rows else None


async def form(connection: Connection, key: int, tenants: Tenants = None) -> StoredForm | None:
    """The form with this key, None if it does not exist."""
    return _form(await _of_tenants.execute(connection, "form", tenants, key))


async def generic_resource(connection: Connection, key: int, tenants: Tenants = None) -> StoredFile | None:
    """The file of the generic resource with this key, None if it does not exist."""
    rows = (await _of_tenants.execute(connection, "generic_resource", tenants, key)).rows
    return StoredFile(key, rows[0][0], bytes(rows[0][1])) if rows else None


class NoSuchOwner(Exception):
    """There is no user task or process definition with the key."""


async def form_of_user_task(connection: Connection, key: int, tenants: Tenants = None) -> StoredForm | None:
    """The form that a user task was created with, None without one. Raises NoSuchOwner for an unknown task."""
    return _form_of(await _of_tenants.execute(connection, "form_of_user_task", tenants, key))


async def start_form(connection: Connection, key: int, tenants: Tenants = None) -> StoredForm | None:
    """The form for the start of a process, None without one. Raises NoSuchOwner for an unknown definition."""
    return _form_of(await _of_tenants.execute(connection, "start_form", tenants, key))


def _form_of(found: QueryResult) -> StoredForm | None:
    if not found.rows:
        raise NoSuchOwner
    return _form(found)


def _form(found: QueryResult) -> StoredForm | None:
    if not found.rows or found.rows[0][0] is None:
        return None
    key, form_id, version, tenant, content = found.rows[0]
    return StoredForm(key, form_id, version, tenant, bytes(content))


async def result(
    connection: Connection, instance_key: int, names: Sequence[str] | None, tenants: Tenants = None
) -> StoredAnswer | None:
    """The result of an instance with the variables of its outermost scope (only `names`); None before it has ended."""
    wanted = None if names is None else list(names)
    rows = (await _of_tenants.execute(connection, "result", tenants, instance_key, wanted)).rows
    return StoredAnswer(rows[0][0], (rows[0][1] or "{}").encode()) if rows else None


async def root_of_instance(connection: Connection, key: int, tenants: Tenants = None) -> int | None:
    """The key of the root of a process instance's tree, None if the instance never existed."""
    rows = (await _of_tenants.execute(connection, "root_of_instance", tenants, key)).rows
    return rows[0][0] if rows else None


async def element_exists(connection: Connection, key: int, tenants: Tenants = None) -> bool:
    """Whether an element instance has, or had, this key."""
    return bool((await _of_tenants.execute(connection, "element_exists", tenants, key)).rows)


async def scope(connection: Connection, key: int | None, tenants: Tenants = None) -> tuple[int, bytes | None]:
    """The engine's time (epoch ms), and the variables that an element or process instance sees, as a JSON object.

    The variables are None if no such instance exists, and empty without a key.
    """
    now_ms, exists, variables = (await _of_tenants.execute(connection, "scope", tenants, key)).rows[0]
    if key is not None and not exists:
        return now_ms, None
    return now_ms, (variables or "{}").encode()


async def user_task_exists(connection: Connection, key: int, tenants: Tenants = None) -> bool:
    """Whether a user task has, or had, this key."""
    return bool((await _of_tenants.execute(connection, "user_task_exists", tenants, key)).rows)


async def sequence_flows(connection: Connection, instance_key: int, tenants: Tenants = None) -> bytes:
    """The sequence flows that an instance has taken: a JSON array with the API's fields."""
    return await _json(connection, "sequence_flows", tenants, instance_key)


async def call_hierarchy(connection: Connection, instance_key: int, tenants: Tenants = None) -> bytes | None:
    """The instance and its callers, the root first: a JSON array. None if the instance does not exist."""
    rows = (await _of_tenants.execute(connection, "call_hierarchy", tenants, instance_key)).rows
    return rows[0][0]  # type: ignore[no-any-return]  # JSON comes as bytes


async def instance_statistics(connection: Connection, instance_key: int, tenants: Tenants = None) -> bytes:
    """The number of instances of each element in each state, for a process instance: a JSON array."""
    return await _json(connection, "instance_statistics", tenants, instance_key)


async def instance_wait_states(connection: Connection, instance_key: int, tenants: Tenants = None) -> bytes:
    """The number of instances of each element that wait for something, for a process instance: a JSON array."""
    return await _json(connection, "instance_wait_states", tenants, instance_key)


async def definition_statistics(connection: Connection, definition_key: int, tenants: Tenants = None) -> bytes:
    """The number of instances of each element in each state, for all instances of a definition: a JSON array."""
    return await _json(connection, "definition_statistics", tenants, definition_key)


async def element_durations(
    connection: Connection, definition_key: int, tenants: Tenants = None
) -> list[ElementDurations]:
    """The durations of the completed elements of a definition; '' is the process. Without unknown durations."""
    rows = (await _of_tenants.execute(connection, "element_durations", tenants, definition_key)).rows
    return [ElementDurations(id, list(zip(*histogram, strict=True)), total) for id, *histogram, total in rows]


async def _json(connection: Connection, name: str, tenants: Tenants, key: int) -> bytes:
    document: bytes = (await _of_tenants.execute(connection, name, tenants, key)).rows[0][0]
    return document
