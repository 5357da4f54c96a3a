"""The wait of a request for its command, from before the append to the outcome: one memory channel."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from vivero.api.commands.reply_pool import ReplyPool
from vivero.api.http.deadlines import Deadlines
from vivero.api.services import CommandAppender, CompletionRegistry
from vivero.core.partitions.keys import partition_of
from vivero.engine.appender.calls import Append
from vivero.engine.outcomes.replies import Reply
from vivero.storage.log.command_log import Appended


class OutcomeWait:
    """The channel of one command. The request owns it. If it leaves before the last reply, it closes its end.

    The appender replies, or passes the sending end on to the completions with the position. So the request need not run
    in between, and the outcome never comes first.
    """

    __slots__ = ("_is_over", "_pool", "_send", "pending", "replies")

    def __init__(
        self,
        pool: ReplyPool,
        appender: CommandAppender,
        item: Append,
        completions: CompletionRegistry | None,
    ) -> None:
        """Begin to append a command. `completions`: wait for its outcome, too. Raises NotAppended."""
        self._pool, self._is_over = pool, False
        self._send, self.replies = pool.take()
        self.pending = appender.begin_append(item, self._send, completions)

    async def receive(self, deadlines: Deadlines, until: float) -> Reply | None:
        """The reply, if it comes up to a time of Trio's clock. Call this at most once, and before `place`."""
        reply = await deadlines.receive(self._send, self.replies, until)
        self._is_over = reply is not None and (reply.outcome is not None or reply.error is not None)
        return reply

    def place(self) -> Appended | None:
        """The place in the log, if the command waits for its outcome there. Otherwise it is the next reply."""
        self.pending.tells_append = True
        return None if self.pending.waiter is None else self.pending.waiter.appended

    def register(self, completions: CompletionRegistry, appended: Appended) -> None:
        """Wait for the outcome, unless that has begun. Raises Overloaded."""
        if self.pending.waiter is None:
            position = appended.position
            self.pending.waiter = completions.register(partition_of(position), position, self._send, appended=appended)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_over:
            self._pool.give_back((self._send, self.replies))
        else:
            self.replies.close()
            self.pending.leave()
