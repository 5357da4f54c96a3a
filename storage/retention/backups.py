"""Queries of backups: the moment that a backup holds, and counts that tell whether a restore is complete."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import msgspec
import trio

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.session_settings import RELIED_ON
from vivero.storage.postgres.sql_files import beside
from vivero.storage.schema import installations

_sql = beside(__file__)

COUNTED = (
    *("command_log", "event_log", "process_instances", "element_instances", "variables", "jobs"),
    *("timers", "messages", "user_tasks", "incidents", "process_definitions"),
)
"""Tables whose rows are compared after a restore. An old schema has some of them."""
TIMEOUT_S = 24 * 3600.0
"""For what reads whole tables."""


class Moment(msgspec.Struct, frozen=True):
    """A snapshot of the database that other sessions can read, too."""

    snapshot: str
    at_ms: int
    schema: int
    cluster: str
    sizes: dict[str, int]
    """Table → bytes."""


async def server(connection: Connection) -> tuple[str, int]:
    """The server's version, and its major version."""
    version, major = (await connection.execute(_sql["server"])).rows[0]
    return version, major


TOOL_SETTINGS = ("array_nulls", "IntervalStyle", "idle_session_timeout")
"""Settings that pg_dump and pg_restore rely on, and do not make themselves."""


async def tool_options(connection: Connection) -> str:
    """Options for sessions of pg_dump and pg_restore; empty if they begin as they should, as poolers refuse options."""
    values = [RELIED_ON[name] for name in TOOL_SETTINGS]
    odd = (await connection.execute(_sql["odd_settings"], (list(TOOL_SETTINGS), values))).rows
    return " ".join(f"-c{name}={RELIED_ON[name].replace(' ', '')}" for (name,) in odd)


async def own_schema(connection: Connection) -> str:
    """The schema in which the session works, quoted."""
    quoted: str = (await connection.execute(_sql["own_schema"])).rows[0][0]
    return quoted


async def owns_the_tables(connection: Connection) -> bool | None:
    """Whether this user sees every row. None: there are no tables."""
    rows = (await connection.execute(_sql["owns"])).rows
    return rows[0][0] if rows else None


async def count_tables(connection: Connection, schema: str) -> int:
    """The number of tables in a schema."""
    found: int = (await connection.execute(_sql["tables"], (schema,))).rows[0][0]
    return found


async def drops(connection: Connection, schema: str) -> list[str]:
    """The statements that drop what is in a schema, in their order."""
    return [statement for statement, _ in (await connection.execute(_sql["drops"], (schema,))).rows]


async def drop(connection: Connection, schema: str, before: Sequence[str] | None) -> None:
    """Drop what was restored into a schema: all but what was there `before`, or the schema itself (None)."""
    if before is None:
        statements = [f"DROP SCHEMA {await installations.quoted(connection, schema)} CASCADE"]
    else:
        statements = [each for each in await drops(connection, schema) if each not in before]
    await connection.script("; ".join(statements), deadline=trio.current_time() + TIMEOUT_S)


@asynccontextmanager
async def moment(connection: Connection) -> AsyncGenerator[Moment]:
    """A moment that holds as long as the block. The session may sit idle in it for as long as a dump takes."""
    await connection.script("SET idle_in_transaction_session_timeout = 0")
    deadline = trio.current_time() + TIMEOUT_S
    async with connection.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", deadline=deadline):
        snapshot, at_ms, schema, cluster = (await connection.execute(_sql["facts"])).rows[0]
        sizes = (await connection.execute(_sql["sizes"])).rows
        yield Moment(snapshot, at_ms, schema, cluster, dict(sizes))


async def counts(connection: Connection) -> dict[str, int]:
    """Table → rows, of the tables that matter most, as far as the schema has them."""
    deadline = trio.current_time() + TIMEOUT_S
    tables = [name for (name,) in (await connection.execute(_sql["existing"], (list(COUNTED),))).rows]
    count = ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    rows = (await connection.execute(f"SELECT {count}", deadline=deadline)).rows
    return dict(zip(tables, rows[0], strict=True))


async def outside(connection: Connection) -> dict[str, tuple[int, int]]:
    """Store → documents' contents, and bytes, that are not in the database. Empty for a schema without stores."""
    deadline = trio.current_time() + TIMEOUT_S
    if not (await connection.execute(_sql["has_stores"])).rows[0][0]:
        return {}
    rows = (await connection.execute(_sql["outside"], deadline=deadline)).rows
    return {store: (files, size) for store, files, size in rows}


async def analyze(connection: Connection) -> None:
    """Collect the statistics of all tables, which a restore leaves out: without them, searches have bad plans."""
    await connection.script("ANALYZE", deadline=trio.current_time() + TIMEOUT_S)
