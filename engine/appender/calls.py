"""Commands that wait to be appended, and the calls that append them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID, uuid4

import msgspec
import structlog
import trio

from vivero.core.partitions.keys import partition_of
from vivero.core.records.base import Command
from vivero.core.records.codec import check_encoding, encode_command
from vivero.engine.outcomes.admission import NotAppended, Overloaded, ValueRejected
from vivero.engine.outcomes.replies import OutcomeRegistry, Registration, Reply, tell
from vivero.storage.log.command_log import Appended, LogEntry
from vivero.storage.postgres.errors import DataPoison, describe

_logger = structlog.get_logger(__name__)

OVERHEAD_BYTES = 200
"""About what an entry takes in a call in addition to its payload."""


class Append(msgspec.Struct, frozen=True, gc=False):
    """A command to append.

    `key` is its subject, for display. `idempotency` is the idempotency key with the SHA-256 of the request. `partition`
    owns the aggregate.
    """

    command: Command
    tenant: str
    key: int | None = None
    idempotency: tuple[str, bytes] | None = None
    partition: int = 1
    audit: str | None = None
    """The record for the audit log."""
    flush: bool = False
    """Whether a client is told of the append before the outcome. Otherwise the flush of the outcome is enough."""


class BulkAppender(Protocol):
    """Appends many commands at a time: `engine.appender.task.Appender`."""

    async def append_all(self, items: Sequence[Append], *, deadline_s: float) -> list[Appended]: ...


class OpenSpan(Protocol):
    """`engine.appender.traces.AppendSpan`."""

    def end(self, result: Appended | NotAppended) -> None:
        """The command has a position, or will not be appended. The first call counts."""


@dataclass(slots=True, eq=False)
class PendingCommand:
    """A command that is to be appended, with the sending end of its request's channel."""

    entry: LogEntry
    partition: int
    size: int
    flush: bool
    since: float
    new: bool
    replies: trio.MemorySendChannel[Reply] | None
    """Has room for one reply, or for two if the request waits for the outcome. None: the append is over."""
    number: int = 0
    """Its number among the commands of the channel."""
    outcomes: OutcomeRegistry | None = None
    """Sends the outcome to the same channel. None: the request waits for the append only, or not any more."""
    tells_append: bool = False
    """The place in the log is told at once. Otherwise the reply with the outcome contains it."""
    waiter: Registration | None = None
    """The command is in the log and waits for its outcome."""
    call: AppendCall | None = None
    withdrawn: bool = False
    queued: bool = False
    """The appender has it, or a sibling process."""
    sent: bool = False
    """A sibling process has it, and may append it."""
    patience_until: float = float("inf")
    """The time at which the appender gives a `new` command up if the log has no capacity for it (Trio's clock)."""
    appended_at: float = 0.0
    """The time at which the appender knew the position (Trio's clock)."""
    span: OpenSpan | None = None
    """None: it is not traced."""

    def finish(self, result: Appended | NotAppended, now: float = 0.0) -> None:
        """The append is over: reply, or register for the outcome before anybody can process the command."""
        self.appended_at = now
        self.call = None  # it has this command, too: under load the collector would leave such cycles for minutes
        if self.span is not None:
            self.span.end(result)
        send, self.replies = self.replies, None
        if send is None:
            raise RuntimeError(f"the append of a command has ended twice: {self.entry.intent}")
        if not isinstance(result, Appended):
            tell(send, Reply(self.number, error=result))
            return
        if self.tells_append:
            tell(send, Reply(self.number, result))
        if not self._registered(result, send) and not self.tells_append:
            tell(send, Reply(self.number, result))

    def _registered(self, appended: Appended, send: trio.MemorySendChannel[Reply]) -> bool:
        """Pass the sending end on to those who know the outcome. False: it is not waited for, or too many wait."""
        if self.outcomes is None or not appended.same_body:
            return False
        position = appended.position
        try:
            self.waiter = self.outcomes.register(partition_of(position), position, send, self.number, appended)
        except Overloaded:
            return False
        return True

    def leave(self) -> None:
        """The request waits no more."""
        self.outcomes = None
        if self.waiter is not None:
            self.waiter.close()

    def given_up(self, error: NotAppended) -> NotAppended:
        """Nobody waits for the result any more, because of this error."""
        if self.span is not None:
            self.span.end(error)
        return error


@dataclass(slots=True, eq=False)
class AppendCall:
    """One call of the append function, kept until its outcome is known. `command_log.append` explains `since`."""

    partition: int
    items: list[PendingCommand]
    append_id: UUID = field(default_factory=uuid4)
    since: int | None = None
    in_doubt: bool = False

    def __post_init__(self) -> None:
        for item in self.items:
            item.call = self


def pending_command(
    item: Append,
    replies: trio.MemorySendChannel[Reply],
    new: bool = False,
    trace: str | None = None,
    number: int = 0,
) -> PendingCommand:
    payload = encode_command(item.command)
    check_encoding(payload)  # at the append, a wrong one would fail the whole call
    key, sha = (None, None) if item.idempotency is None else (item.idempotency[0], item.idempotency[1].hex())
    entry = LogEntry(item.tenant, item.command.intent, payload, item.key, key, sha, trace, item.audit)
    return pending_entry(entry, item.partition, item.flush, replies, new, number)


def pending_entry(
    entry: LogEntry,
    partition: int,
    flush: bool,
    replies: trio.MemorySendChannel[Reply],
    new: bool = False,
    number: int = 0,
) -> PendingCommand:
    """A command that is encoded."""
    size = len(entry.payload) + OVERHEAD_BYTES
    return PendingCommand(entry, partition, size, flush, trio.current_time(), new, replies, number)


def bisect(call: AppendCall, error: DataPoison) -> list[AppendCall]:
    """Halve a call that PostgreSQL rejected. A call with a single command has found the culprit, which fails."""
    if len(call.items) > 1:
        middle = len(call.items) // 2
        return [AppendCall(call.partition, call.items[:middle]), AppendCall(call.partition, call.items[middle:])]
    _logger.warning("PostgreSQL rejects a value of a command", intent=call.items[0].entry.intent, error=describe(error))
    call.items[0].finish(ValueRejected(error.message))
    return []
