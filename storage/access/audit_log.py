"""The audit log: who changed what, when, from where, and with which result.

A change over the API or the command line adds its record in its own transaction. A command carries its record through
the log, and the batch that processes it adds the row. So a change that was acknowledged never lacks its record. If a
later batch refuses the request, as when a task listener denies it, that batch corrects the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.postgres.values import Texts

_sql = beside(__file__)

ADMIN, DEPLOYED_RESOURCES, USER_TASKS = "ADMIN", "DEPLOYED_RESOURCES", "USER_TASKS"
CATEGORIES = (ADMIN, DEPLOYED_RESOURCES, USER_TASKS)
SUCCESS, FAIL = "SUCCESS", "FAIL"


class AuditRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A change before it is made. It has no variables, bodies, passwords or tokens.

    `actor_type` is USER, CLIENT, ANONYMOUS or UNKNOWN, and `actor_provider` its verifier (`api.callers.caller`). `key`
    is the engine's key of the subject. Without an `entity_key` it is shown as the entity's, and so is the key in the
    answer to a creation. `tenants` are those that the actor may use (`core.partitions.tenants`), None: all. A key of
    another tenant is recorded like an unknown one. A change that a batch operation made names it. `tool` is the
    name of the tool with which an agent made the change.
    """

    actor_type: str
    actor_id: str
    category: str
    entity_type: str
    operation: str
    entity_key: str | None = None
    key: int | None = None
    address: str | None = None
    description: str | None = None
    related_type: str | None = None
    related_key: str | None = None
    tenant_id: str | None = None
    tenants: str | None = None
    batch_operation_key: int | None = None
    batch_operation_type: str | None = None
    actor_provider: str | None = None
    tool: str | None = None


class AuditedCommand(NamedTuple):
    """A processed command with its record as `encode` wrote it. `response` is the answer's JSON."""

    record: str
    position: int
    rejected: bool
    response: bytes | None


_encode = msgspec.json.Encoder().encode


def encode(record: AuditRecord) -> str:
    """The record as a command carries it."""
    return _encode(record).decode()


async def add(connection: Connection, record: AuditRecord, result: str = SUCCESS) -> None:
    """Add a record. It belongs to the transaction of the connection."""
    await add_all(connection, [record], result)


async def add_all(connection: Connection, records: Sequence[AuditRecord], result: str) -> None:
    """Add records with the same result, by one statement."""
    nothing = [None] * len(records)
    await connection.execute(_sql["add"], (list(map(encode, records)), nothing, [result] * len(records), nothing))


def of_commands(commands: Sequence[AuditedCommand]) -> Call:
    """The statement that adds the records of the commands of a batch, after the rows that they changed."""
    records, positions, rejected, responses = zip(*commands, strict=True)
    results = [FAIL if each else SUCCESS for each in rejected]
    return _sql["add"], (list(records), list(positions), results, Texts(responses))


def refused_later(positions: Sequence[int]) -> Call:
    """The statement that corrects the records of commands that were accepted, and whose requests are refused now."""
    return _sql["refuse"], (list(positions),)


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Delete up to `limit` records older than `age_ms`; returns their number."""
    return (await connection.execute(_sql["purge"], (age_ms, limit))).count
