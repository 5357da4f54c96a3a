"""Batches of the command log: the next commands after the cursor, with the engine's time."""

from __future__ import annotations

import msgspec
import trio

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)


class CommandRow(msgspec.Struct, frozen=True, gc=False):
    """A row of the command log."""

    position: int
    tenant: str
    intent: str
    request: int | None
    payload: bytes
    audit: str | None = None
    """The record for the audit log, None for most commands."""
    trace: str | None = None
    """The trace context that came with the command (`TraceContext.text`), None for most commands."""


class LogPage(msgspec.Struct, frozen=True):
    """The next rows of the log.

    `now` is the engine's time in epoch ms, not before `asked_at` (Trio's clock). Each change of the clock raises
    `clock_revision`; each deployment and deletion raises `definitions_seq`.
    """

    rows: list[CommandRow]
    now: int
    clock_revision: int
    definitions_seq: int
    asked_at: float


async def read_batch(reader: Connection, partition: int, after: int, limit: int) -> LogPage:
    """Up to `limit` rows after position `after`."""
    asked_at = trio.current_time()
    rows = (await reader.execute(_sql["read_batch"], (partition, after, limit))).rows
    now, clock_revision, definitions = rows[0][7:10]
    found = [CommandRow(*row[:7]) for row in rows if row[0] is not None]
    return LogPage(found, now, clock_revision, definitions, asked_at)
