"""The command log and what came of it: append, forward, outcomes, look-up of a command (docs/design/log.md §2, §6, §8).

Every call here is one statement in autocommit, never part of a pipeline or a transaction: an append holds the
partition's lock until it has committed, and a client that stops in between would keep it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import trio

from vivero.engine.core.records.effects import Rejection
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.state.load import Batch, LogRow

_sql = beside(__file__)
_APPEND, _APPEND_FRESH, _FORWARD = _sql["append"], _sql["append_fresh"], _sql["forward"]
_LAST_POSITION, _CURSOR, _BACKLOG = _sql["last_position"], _sql["cursor"], _sql["backlog"]
_BEGIN = _sql["begin_appends"]
_PURGE_KEYS = _sql["purge_keys"]
_OUTCOMES, _LOST, _ENDED = _sql["outcomes"], _sql["lost"], _sql["ended"]
_COMMAND, _EVENTS, _HISTORY = _sql["command"], _sql["events_of_command"], _sql["history"]

_encoder = msgspec.json.Encoder()
_rejection_decoder = msgspec.json.Decoder(Rejection)
EMPTY_ANSWER = b"null"
"""The response in the event log of a command whose answer is empty."""


class LogEntry(msgspec.Struct, omit_defaults=True, gc=False):
    """A command as the append function takes it. The appender numbers the entries of a call (`o`)."""

    tenant: str
    intent: str
    payload: str
    """The command's JSON object as text."""
    subject: int | None = None
    """The key of what the command is about, for display."""
    key: str | None = None
    """The idempotency key."""
    sha: str | None = None
    """The fingerprint of the request that came with the idempotency key, SHA-256 in hex."""
    trace: str | None = None
    o: int = -1


class Session(NamedTuple):
    """Of an appender, and which of its connections, counted from 1: only the last one appends."""

    appender: UUID
    number: int


class Appended(msgspec.Struct, frozen=True, gc=False):
    """Where a command stands in the log.

    `replayed`: its idempotency key was used before, nothing was written, and `position` is the first one's; `same_body`
    is False when that was another request (422). `at_ms` is the engine's time of the append, None of a replay.
    """

    position: int
    replayed: bool = False
    same_body: bool = True
    at_ms: int | None = None


class AppendedSegment(msgspec.Struct, frozen=True, gc=False):
    """Commands as they stand at the end of a log, for who would read them otherwise.

    Nothing stands between position `behind` and the first of them. `behind` need not be a command of this log: it may
    be the position before the first, whosever that is.
    """

    behind: int
    batch: Batch


class CommandOutcome(msgspec.Struct, frozen=True, gc=False):
    """What came of the command at `position`: `response` is the answer's JSON, None when it is empty."""

    position: int
    rejection: Rejection | None = None
    response: bytes | None = None


class EventRow(msgspec.Struct, frozen=True, gc=False):
    """The events (JSON, as `records.encode_events` wrote it) of the command (seq 0) or of one of its follow-ups."""

    seq: int
    processed_at_ms: int
    version: int
    events: bytes
    rejection: Rejection | None = None


class LoggedCommand(msgspec.Struct, frozen=True, gc=False):
    """A command of the log with what came of it so far; without `rows` it is still pending.

    `outcome` is None as long as a later command is to answer this one, and for commands that answer another
    (`request`).
    """

    position: int
    partition: int
    tenant: str
    intent: str
    key: int | None
    request: int | None
    appended_at_ms: int
    payload: bytes
    rows: tuple[EventRow, ...] = ()
    outcome: CommandOutcome | None = None


class HistoryRow(msgspec.Struct, frozen=True, gc=False):
    """A row of the event log of a tree; `intent` and `payload` of its command are None once that is gone."""

    position: int
    seq: int
    processed_at_ms: int
    events: bytes
    intent: str | None
    payload: bytes | None


async def begin(connection: Connection, appender: UUID, number: int) -> Session:
    """A session of an appender, on a connection that says nothing else before this is answered.

    Each has a higher number than those before. From here on nothing that was said in one of those is appended, however
    late it comes. Positions go on behind those that a crash may have taken.

    Raises:
        Outage: this is a standby.
    """
    await connection.execute(_BEGIN, (appender, number))
    return Session(appender, number)


async def append(
    connection: Connection,
    session: Session,
    partition: int,
    append_id: UUID,
    since: int | None,
    entries: Sequence[LogEntry],
    flush: bool = True,
) -> list[Appended]:
    """Append the entries in order; where each stands. See `append_segment`."""
    return (await append_segment(connection, session, partition, append_id, since, entries, flush))[0]


async def append_segment(
    connection: Connection,
    session: Session,
    partition: int,
    append_id: UUID,
    since: int | None,
    entries: Sequence[LogEntry],
    flush: bool = True,
) -> tuple[list[Appended], AppendedSegment | None]:
    """Append the entries in order; where each stands, and those that are new as they stand in the log.

    `since` is None, or, when the same call was made before, in an earlier session, and nobody knows what came of it, a
    position that was in the log before its first try. There is no segment when nothing is new, or
    when nobody knows behind what it stands.

    Without `flush` they survive a crash of PostgreSQL only if something that was committed later does: nobody may be
    told of them but of what came of them. With an idempotency key, of which others may be told, they are flushed.

    Raises:
        DataPoison: PostgreSQL refuses a value of one of them; nothing was written.
        Retry: a later session has begun; nothing was written.
        StorageError: `in_doubt` says whether the entries may have been written.
    """
    for number, entry in enumerate(entries):
        entry.o = number
    encoded, asked_at = _encoder.encode(entries), trio.current_time()
    if since is None and all(entry.key is None for entry in entries):
        rows = (await connection.execute(_APPEND_FRESH, (partition, append_id, encoded, flush, *session))).rows
        return _fresh(entries, rows, asked_at)
    rows = (await connection.execute(_APPEND, (partition, append_id, since, encoded, *session))).rows
    at_ms = rows[0][5]
    appended = [
        Appended(position, replayed, same_body, None if replayed else at_ms)
        for _, position, replayed, same_body, *_ in rows
    ]
    return appended, _segment(entries, rows, asked_at)


def _fresh(
    entries: Sequence[LogEntry], rows: Sequence[tuple[Any, ...]], asked_at: float
) -> tuple[list[Appended], AppendedSegment]:
    first, now, clock_revision, definitions = rows[0]
    log_rows = [
        LogRow(row[0], entry.tenant, entry.intent, None, entry.payload.encode())
        for entry, row in zip(entries, rows, strict=True)
    ]
    segment = AppendedSegment(first - 1, Batch(log_rows, now, clock_revision, definitions, asked_at))
    return [Appended(row.position, at_ms=now) for row in log_rows], segment


def _segment(entries: Sequence[LogEntry], rows: Sequence[tuple[Any, ...]], asked_at: float) -> AppendedSegment | None:
    behind, now, clock_revision, definitions = rows[0][4:]
    if behind is None:
        return None
    fresh = [
        LogRow(row[1], entry.tenant, entry.intent, None, entry.payload.encode())
        for entry, row in zip(entries, rows, strict=True)
        if not row[2]
    ]
    return AppendedSegment(behind, Batch(fresh, now, clock_revision, definitions, asked_at)) if fresh else None


async def forward(connection: Connection, partition: int, limit: int) -> int | None:
    """Move up to `limit` commands from the inbox to the log; the last one's position, None when there was none."""
    position: int | None = (await connection.execute(_FORWARD, (partition, limit))).rows[0][0]
    return position


async def last_position(connection: Connection, partition: int) -> int:
    """The position of the last command of a partition's log; the position before the first one when it is empty."""
    position: int = (await connection.execute(_LAST_POSITION, (partition,))).rows[0][0]
    return position


async def purge_keys(connection: Connection, age_ms: int, limit: int) -> int:
    """Delete up to `limit` idempotency keys that expired longer ago than this; how many there were.

    It must be a good while: an append that has found a key valid still looks it up by its end.
    """
    return (await connection.execute(_PURGE_KEYS, (age_ms, limit))).count


async def cursor(connection: Connection, partition: int) -> int:
    """The position up to which the partition was processed."""
    rows = (await connection.execute(_CURSOR, (partition,))).rows
    return int(rows[0][0]) if rows else 0


async def backlog(connection: Connection, partition: int, behind: int, limit: int) -> int:
    """How many commands of the partition stand behind a position; counted up to `limit`."""
    count: int = (await connection.execute(_BACKLOG, (partition, behind, limit))).rows[0][0]
    return count


async def outcomes(connection: Connection, positions: Sequence[int]) -> list[CommandOutcome]:
    """What came of those of the commands that were answered."""
    result = await connection.execute(_OUTCOMES, (list(positions),))
    return [
        CommandOutcome(position, _rejection(rejection), _response(body)) for position, rejection, body in result.rows
    ]


async def outcome(connection: Connection, position: int) -> CommandOutcome | None:
    """What came of one command, None as long as nothing did."""
    found = await outcomes(connection, (position,))
    return found[0] if found else None


async def lost(connection: Connection, positions: Sequence[int]) -> list[int]:
    """Those of the positions of commands at which there is none any more: PostgreSQL crashed before it was flushed.

    None, whatever stands there, if this is a standby, which may be behind.
    """
    return [position for (position,) in (await connection.execute(_LOST, (list(positions),))).rows]


async def ended(connection: Connection, instance_keys: Sequence[int]) -> list[tuple[int, str]]:
    """Those of the process instances that have ended, with their state."""
    result = await connection.execute(_ENDED, (list(instance_keys),))
    return [(key, state) for key, state in result.rows]


async def command(connection: Connection, position: int) -> LoggedCommand | None:
    """The command at `position` with its events; None when there is none."""
    found = (await connection.execute(_COMMAND, (position,))).rows
    if not found:
        return None
    events = await connection.execute(_EVENTS, (position,))
    rows = tuple(
        EventRow(seq, processed_at_ms, version, body, _rejection(rejection))
        for seq, processed_at_ms, version, body, rejection in events.rows
    )
    at, partition, tenant, intent, key, request, appended_at_ms, payload = found[0]
    return LoggedCommand(
        at,
        partition,
        tenant,
        intent,
        key,
        request,
        appended_at_ms,
        payload,
        rows,
        await outcome(connection, position) if rows else None,
    )


async def history(connection: Connection, instance_key: int, after: int, limit: int) -> list[HistoryRow]:
    """Up to `limit` rows behind position `after` of the tree that a process instance belongs to, oldest first."""
    found = (await connection.execute(_HISTORY, (instance_key, after, limit))).rows
    return [HistoryRow(*row) for row in found]


def _rejection(text: bytes | None) -> Rejection | None:
    return None if text is None else _rejection_decoder.decode(text)


def _response(text: bytes | None) -> bytes | None:
    return None if text is None or text == EMPTY_ANSWER else text
