"""The command log: append, forward, outcomes, and the look-up of a command (docs/design/log.md §2, §6, §8).

Every call is one statement in autocommit, never part of a pipeline or a transaction: an append holds the partition's
lock until it has committed, and a client that stops in between would keep the lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import msgspec
import trio

from vivero.core.records.effects import Rejection
from vivero.storage.access.tenants import Tenants, TenantStatements, names_one
from vivero.storage.log.log_batches import CommandRow, LogPage
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

R = TypeVar("R")

_sql = beside(__file__)
_APPEND, _APPEND_FRESH, _FORWARD = _sql["append"], _sql["append_fresh"], _sql["forward"]
_LAST_POSITION, _CURSOR, _BACKLOG = _sql["last_position"], _sql["cursor"], _sql["backlog"]
_LOOK, _BEGIN = _sql["look"], _sql["begin_appends"]
_PURGE_KEYS, _KNOWN_KEYS = _sql["purge_keys"], _sql["known_keys"]
_OUTCOMES, _LOST, _ENDED = _sql["outcomes"], _sql["lost"], _sql["ended"]
_EVENTS, _TENANT = _sql["events_of_command"], _sql["tenant_of_command"]
_of_tenants = TenantStatements(__file__)

_encoder = msgspec.json.Encoder()
_rejection_decoder = msgspec.json.Decoder(Rejection)
EMPTY_ANSWER = b"null"
"""The response in the event log of a command with an empty answer."""


class LogEntry(msgspec.Struct, frozen=True, gc=False):
    """A command that is to be appended."""

    tenant: str
    intent: str
    payload: bytes
    """The command's JSON object in UTF-8. The log, and the segment that the consumer gets, have the same bytes."""
    subject: int | None = None
    """The key of the command's subject (a job, an instance, …), for display."""
    key: str | None = None
    """The idempotency key."""
    sha: str | None = None
    """The fingerprint of the request with the idempotency key: SHA-256 in hex."""
    trace: str | None = None
    """The trace context that comes with the command (`TraceContext.text`)."""
    audit: str | None = None
    """The record for the audit log (`storage.access.audit_log.encode`), None for none."""


class _Numbered(msgspec.Struct, omit_defaults=True, gc=False):
    """A `LogEntry` in the form that the append function takes, with its number in the call (`o`)."""

    o: int
    tenant: str
    intent: str
    payload: str
    subject: int | None = None
    key: str | None = None
    sha: str | None = None
    trace: str | None = None
    audit: str | None = None


class AppenderSession(NamedTuple):
    """A session of an appender. Each new connection has a higher number, from 1; only the last session appends."""

    appender: UUID
    number: int


class Appended(msgspec.Struct, frozen=True, gc=False):
    """The position of a command in the log.

    `replayed`: its idempotency key was used before. Nothing was written, and `position` is that of the first command;
    `same_body` is False if the first request was a different one (422). `at_ms` is the engine's time of the append,
    None for a replay.
    """

    position: int
    replayed: bool = False
    same_body: bool = True
    at_ms: int | None = None


class AppendedSegment(msgspec.Struct, frozen=True, gc=False):
    """Commands at the end of a log, for a consumer that would otherwise read them.

    The log has no command between position `behind` and the first of them. There need not be a command at `behind`.
    """

    behind: int
    batch: LogPage


class LogLook(NamedTuple):
    """The last position of a partition's log as `last_position` gives it, and whether its inbox has commands.

    `has_transactions`: whether clients have ever queued commands in transactions of their own.
    """

    last: int
    is_inbox_filled: bool
    has_transactions: bool


class CommandOutcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of the command at `position`. `response` is the answer's JSON, None if it is empty."""

    position: int
    rejection: Rejection | None = None
    response: bytes | None = None
    reply: Any = None
    """The answer as the engine of this process made it; None if it was read from the event log."""

    def reply_by(self, decoder: msgspec.json.Decoder[R]) -> R:
        """The answer as a struct. Only an answer from the event log has to be decoded."""
        reply: R = decoder.decode(self.response or b"") if self.reply is None else self.reply
        return reply


class CommandEvents(msgspec.Struct, frozen=True, gc=False):
    """The events (JSON, as `records.encode_events` wrote it) of the command (seq 0) or of one of its follow-ups."""

    seq: int
    processed_at_ms: int
    version: int
    events: bytes
    rejection: Rejection | None = None


class LoggedCommand(msgspec.Struct, frozen=True, gc=False):
    """A command of the log with its events so far. Without `rows` it is still pending.

    `outcome` is None until a later command answers this one, and for commands that answer another one (`request`).
    """

    position: int
    partition: int
    tenant: str | None
    """None for a command by key that changed no instance: it may be of any tenant of its sender."""
    intent: str
    key: int | None
    request: int | None
    appended_at_ms: int
    payload: bytes
    rows: tuple[CommandEvents, ...] = ()
    outcome: CommandOutcome | None = None


class HistoryRow(msgspec.Struct, frozen=True, gc=False):
    """A row of the event log of an instance tree. `intent` and `payload` are None after the command was deleted.

    Only the first row of a command has its payload. `origin`: the position of an earlier command from which the row
    follows, and whose intent it has; None if it is that of the row.
    """

    position: int
    seq: int
    processed_at_ms: int
    events: bytes
    intent: str | None
    payload: bytes | None
    version: int
    origin: int | None = None


class HistoryPage(NamedTuple):
    """Whole commands of an instance tree, and whether there are more."""

    rows: Sequence[HistoryRow]
    more: bool


async def begin(connection: Connection, appender: UUID, number: int) -> AppenderSession:
    """Begins a session of an appender, as the first call on its connection.

    Each session needs a higher number than the earlier ones. From now on the earlier sessions append nothing, however
    late their calls arrive. New positions follow those that a crash may have taken.

    Raises:
        Outage: the server is a standby.
    """
    await connection.execute(_BEGIN, (appender, number))
    return AppenderSession(appender, number)


async def append(
    connection: Connection,
    session: AppenderSession,
    partition: int,
    append_id: UUID,
    since: int | None,
    entries: Sequence[LogEntry],
    flush: bool = True,
) -> list[Appended]:
    """Appends the entries in order; returns the position of each. See `append_segment`."""
    return (await append_segment(connection, session, partition, append_id, since, entries, flush))[0]


async def append_segment(
    connection: Connection,
    session: AppenderSession,
    partition: int,
    append_id: UUID,
    since: int | None,
    entries: Sequence[LogEntry],
    flush: bool = True,
) -> tuple[list[Appended], AppendedSegment | None]:
    """Appends the entries in order; returns the position of each, and the new ones as a segment of the log.

    `since` is None for a first try. For a repeated call whose first try, in an earlier session, is in doubt, it is a
    position that was in the log before the first try. The segment is None if nothing is new, or if the position before
    it is unknown.

    Without `flush` the entries survive a crash of PostgreSQL only if a later commit survives it. A client may then
    learn of their outcomes, but not of the entries. Entries with an idempotency key are always flushed, because other
    clients may learn of them.

    Raises:
        DataPoison: PostgreSQL rejects a value of an entry; nothing was written.
        Retry: a later session has begun; nothing was written.
        StorageError: `in_doubt` says whether the entries may have been written.
    """
    encoded, asked_at = _encoder.encode(list(starmap(_numbered, enumerate(entries)))), trio.current_time()
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


def _numbered(number: int, entry: LogEntry) -> _Numbered:
    return _Numbered(
        number,
        entry.tenant,
        entry.intent,
        entry.payload.decode(),
        entry.subject,
        entry.key,
        entry.sha,
        entry.trace,
        entry.audit,
    )


def _fresh(
    entries: Sequence[LogEntry], rows: Sequence[tuple[Any, ...]], asked_at: float
) -> tuple[list[Appended], AppendedSegment]:
    first, now, clock_revision, definitions = rows[0]
    log_rows = [
        CommandRow(row[0], entry.tenant, entry.intent, None, entry.payload, entry.audit, entry.trace)
        for entry, row in zip(entries, rows, strict=True)
    ]
    segment = AppendedSegment(first - 1, LogPage(log_rows, now, clock_revision, definitions, asked_at))
    return [Appended(row.position, at_ms=now) for row in log_rows], segment


def _segment(entries: Sequence[LogEntry], rows: Sequence[tuple[Any, ...]], asked_at: float) -> AppendedSegment | None:
    behind, now, clock_revision, definitions = rows[0][4:]
    if behind is None:
        return None
    fresh = [
        CommandRow(row[1], entry.tenant, entry.intent, None, entry.payload, entry.audit, entry.trace)
        for entry, row in zip(entries, rows, strict=True)
        if not row[2]
    ]
    return AppendedSegment(behind, LogPage(fresh, now, clock_revision, definitions, asked_at)) if fresh else None


async def forward(connection: Connection, partition: int, limit: int) -> int | None:
    """Moves up to `limit` commands from the inbox to the log; returns the last position, None if there was none."""
    position: int | None = (await connection.execute(_FORWARD, (partition, limit))).rows[0][0]
    return position


async def last_position(connection: Connection, partition: int) -> int:
    """The position of the last command in a partition's log; in an empty log the position before the first one."""
    position: int = (await connection.execute(_LAST_POSITION, (partition,))).rows[0][0]
    return position


async def look(connection: Connection, partition: int) -> LogLook:
    """The end of a partition's log, and what waits to be moved there."""
    return LogLook(*(await connection.execute(_LOOK, (partition,))).rows[0])


async def purge_keys(connection: Connection, age_ms: int, limit: int) -> int:
    """Deletes up to `limit` idempotency keys that expired more than `age_ms` ago; returns their number.

    `age_ms` must be longer than an append takes: an append that found a key valid reads it again at its end.
    """
    return (await connection.execute(_PURGE_KEYS, (age_ms, limit))).count


async def known_keys(connection: Connection, tenant: str, keys: Sequence[str]) -> int:
    """The number of these idempotency keys that are in use."""
    count: int = (await connection.execute(_KNOWN_KEYS, (tenant, list(keys)))).rows[0][0]
    return count


async def cursor(connection: Connection, partition: int) -> int:
    """The position of the last processed command of the partition."""
    rows = (await connection.execute(_CURSOR, (partition,))).rows
    return int(rows[0][0]) if rows else 0


async def backlog(connection: Connection, partition: int, behind: int, limit: int) -> int:
    """The number of commands after position `behind`, counted up to `limit`."""
    count: int = (await connection.execute(_BACKLOG, (partition, behind, limit))).rows[0][0]
    return count


async def cursor_before(connection: Connection, partition: int, last: int, limit: int) -> int:
    """A position so far before `last` as there are commands that wait.

    Positions jump after a crash. Up to `limit` positions are taken for commands; then they are counted.
    """
    reached = await cursor(connection, partition)
    if last - reached < limit:
        return reached
    return last - await backlog(connection, partition, reached, limit)


async def outcomes(connection: Connection, positions: Sequence[int]) -> list[CommandOutcome]:
    """The outcomes of those commands that have one."""
    result = await connection.execute(_OUTCOMES, (list(positions),))
    return [
        CommandOutcome(position, decode_rejection(rejection), _response(body))
        for position, rejection, body in result.rows
    ]


async def outcome(connection: Connection, position: int) -> CommandOutcome | None:
    """The outcome of a command, None if it has none yet."""
    found = await outcomes(connection, (position,))
    return found[0] if found else None


async def lost(connection: Connection, positions: Sequence[int]) -> list[int]:
    """The positions whose commands are lost, because PostgreSQL crashed before it flushed them.

    A standby returns none, because it may lag behind.
    """
    return [position for (position,) in (await connection.execute(_LOST, (list(positions),))).rows]


async def ended(connection: Connection, instance_keys: Sequence[int]) -> list[tuple[int, str]]:
    """The keys and states of those process instances that have ended."""
    result = await connection.execute(_ENDED, (list(instance_keys),))
    return [(key, state) for key, state in result.rows]


async def command(connection: Connection, position: int, tenants: Tenants = None) -> LoggedCommand | None:
    """The command of one of these tenants at `position` with its events, None if there is none."""
    found = (await _of_tenants.execute(connection, "command", tenants, position)).rows
    if not found:
        return None
    events = await connection.execute(_EVENTS, (position,))
    rows = tuple(
        CommandEvents(seq, processed_at_ms, version, body, decode_rejection(rejection))
        for seq, processed_at_ms, version, body, rejection in events.rows
    )
    at, partition, tenant, intent, key, request, appended_at_ms, payload = found[0]
    return LoggedCommand(
        at,
        partition,
        tenant if names_one(tenant) else await _tenant(connection, position),
        intent,
        key,
        request,
        appended_at_ms,
        payload,
        rows,
        await outcome(connection, position) if rows else None,
    )


async def _tenant(connection: Connection, position: int) -> str | None:
    """The tenant of the instance that a command changed."""
    rows = (await connection.execute(_TENANT, (position,))).rows
    return rows[0][0] if rows else None


async def history(
    connection: Connection, instance_key: int, after: int, limit: int, max_bytes: int, tenants: Tenants = None
) -> HistoryPage:
    """The commands after position `after`, oldest first, of the tree that contains a process instance.

    Up to `limit` rows and `max_bytes`, but at least one command. One with more rows than `limit` loses the others.
    """
    values = instance_key, after, limit, max_bytes
    found = (await _of_tenants.execute(connection, "history", tenants, *values)).rows
    rows, count = [HistoryRow(*row[:-1]) for row in found], found[0][-1] if found else 0
    if len(rows) == limit and rows[0].position < rows[-1].position:  # the last command may be incomplete
        rows = [row for row in rows if row.position < rows[-1].position]
    return HistoryPage(rows, count == limit or count > len(found))


def decode_rejection(text: bytes | None) -> Rejection | None:
    """The rejection in a row of the event log."""
    return None if text is None else _rejection_decoder.decode(text)


def _response(text: bytes | None) -> bytes | None:
    return None if text is None or text == EMPTY_ANSWER else text
