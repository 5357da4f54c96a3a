"""The channel of a request: through it come the positions and the outcomes of its commands (docs/adr/0067).

A request opens a bounded memory channel, keeps the receiving end, and hands the sending end over with its commands. The
appender sends the position, or passes the sending end on to the completions, which send the outcome. The channel has
room for all that can be sent. A request that leaves closes its end; senders drop what comes later.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec
import trio

from vivero.engine.outcomes.admission import NotAppended
from vivero.storage.log.command_log import Appended, CommandOutcome

V = TypeVar("V")


class Reply(msgspec.Struct, frozen=True):
    """The news of a command for its request: its place in the log, its outcome, or the reason why there is none.

    A command has one reply, or two if its place is told before its outcome (`PendingCommand.tells_append`).
    """

    number: int
    """The number of the command among those of the channel."""
    appended: Appended | None = None
    outcome: CommandOutcome | None = None
    error: NotAppended | None = None

    @property
    def place(self) -> Appended:
        """The place in the log. Raises the reply's error."""
        if self.error is not None:
            raise self.error
        if self.appended is None:
            raise ValueError(f"this reply has no place in the log: {self}")
        return self.appended

    @property
    def answer(self) -> CommandOutcome:
        """The outcome. Raises the reply's error."""
        if self.error is not None:
            raise self.error
        if self.outcome is None:
            raise ValueError(f"this reply has no outcome: {self}")
        return self.outcome


Replies = trio.MemoryReceiveChannel[Reply | None]
"""The end of a request. None: the time is up (`api.http.deadlines`)."""


class Registration(Protocol):
    """A wait for one outcome, as `engine.outcomes.waiters.OutcomeWaiter` is."""

    @property
    def appended(self) -> Appended | None: ...

    def close(self) -> None: ...


class OutcomeRegistry(Protocol):
    """Sends outcomes, as `engine.outcomes.completions.Completions` does."""

    def register(
        self,
        partition: int,
        position: int,
        send: trio.MemorySendChannel[Reply],
        number: int = 0,
        appended: Appended | None = None,
    ) -> Registration: ...


def tell(send: trio.MemorySendChannel[V], message: V) -> bool:
    """Send a message without waiting. False: the receiver has left, and nobody needs the message.

    trio.WouldBlock is a mistake in the size of the channel, and is raised.
    """
    try:
        send.send_nowait(message)
    except trio.BrokenResourceError:
        return False
    return True


def received(channel: trio.MemoryReceiveChannel[V]) -> V | None:
    """A message that has come; None: there is none, or there will be none any more."""
    try:
        return channel.receive_nowait()
    except (trio.WouldBlock, trio.EndOfChannel):
        return None


async def next_reply(replies: Replies) -> Reply:
    """Wait for the next reply."""
    while (reply := await replies.receive()) is None:
        pass  # the deadline of a wait that is over
    return reply


async def reply_by(replies: Replies, until: float) -> Reply | None:
    """Wait for the next reply, up to a time of Trio's clock. None: there is none."""
    with trio.move_on_at(until):
        return await next_reply(replies)
    return received(replies)  # it may have come together with the end of the time


async def replies_by(channel: trio.MemoryReceiveChannel[Reply], count: int, until: float) -> dict[int, Reply]:
    """The replies to commands that share a channel, by number: those that come up to a time of Trio's clock."""
    found: dict[int, Reply] = {}
    with trio.move_on_at(until):
        while len(found) < count:
            reply = await channel.receive()
            found[reply.number] = reply
    while (late := received(channel)) is not None:
        found[late.number] = late
    return found
