"""The commands that a sibling sends to this process, because it leads their partitions.

The position of a command and its outcome go back together if the outcome comes soon. Answers share messages. The
appender and the completions reply to all commands of a connection through one memory channel.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import structlog
import trio

from vivero.engine.appender.calls import PendingCommand, pending_entry
from vivero.engine.appender.task import Appender
from vivero.engine.outcomes.admission import NotAppended
from vivero.engine.outcomes.completions import Completions
from vivero.engine.outcomes.replies import Registration, Reply, received, tell
from vivero.engine.siblings.link import MAX_OUTSTANDING
from vivero.engine.siblings.records import (
    AppendFailure,
    Frames,
    Submission,
    SubmissionAnswer,
    frame,
    submissions_decoder,
)
from vivero.storage.log.command_log import Appended, CommandOutcome

log = structlog.get_logger(__name__)

HOLD_S = 0.02
"""A position is sent without the outcome after this time."""
FORGET_S = 30.0
"""After this time the sibling looks for the outcome itself."""
MAX_COMMANDS = 2 * MAX_OUTSTANDING
"""The most commands of a connection: those without an answer, and as many that only wait for their outcomes."""
REPLIES = 2
"""The most replies to a command: its place in the log, and its outcome."""


class Reception:
    """One connection from a sibling."""

    def __init__(self, stream: trio.abc.Stream, appender: Appender, completions: Completions) -> None:
        self._stream, self._appender, self._completions = stream, appender, completions
        self._send_reply, self._replies = trio.open_memory_channel[Reply](REPLIES * MAX_COMMANDS)
        self._pending: dict[int, PendingCommand] = {}
        """Commands without a reply, by number."""
        self._waiting: dict[int, _Waiting] = {}
        """Commands that are in the log and wait for their outcomes, by number, the oldest first."""
        self._not_sent: deque[_Waiting] = deque()
        """Those of them whose positions were not sent when they were appended."""

    async def run(self) -> None:
        """Append commands and answer until the sibling is gone."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send)
                await self._receive()
                nursery.cancel_scope.cancel()
        finally:
            self._replies.close()
            for pending in self._pending.values():
                pending.leave()
            for waiting in self._waiting.values():
                waiting.registration.close()

    async def _receive(self) -> None:
        frames = Frames(self._stream)
        while (body := await frames.receive()) is not None:
            for submission in submissions_decoder.decode(body):
                if len(self._pending) + len(self._waiting) >= MAX_COMMANDS:
                    log.warning("a sibling process sends more commands than a link may", limit=MAX_COMMANDS)
                    return
                self._begin(submission)

    def _begin(self, submission: Submission) -> None:
        """Hand a command over to the appender."""
        number = submission.number
        pending = pending_entry(
            submission.entry, submission.partition, submission.flush, self._send_reply, number=number
        )
        pending.outcomes, pending.tells_append = self._completions, True
        self._pending[number] = pending
        try:
            self._appender.begin_pending(pending)
        except NotAppended:
            tell(self._send_reply, Reply(number))

    # -- the task that answers

    async def _send(self) -> None:
        while True:
            reply = None
            with trio.move_on_after(HOLD_S if self._not_sent else float("inf")):
                reply = await self._replies.receive()
            if answers := self._answers(reply or received(self._replies)):
                try:
                    await self._stream.send_all(frame(answers))
                except trio.BrokenResourceError:
                    return  # the other task notices the end

    def _answers(self, reply: Reply | None) -> list[SubmissionAnswer]:
        """The answers for the sibling now: to this reply, to the others that have come, and of positions held long."""
        answers: list[SubmissionAnswer] = []
        while reply is not None:
            answers += self._answer_to(reply)
            reply = received(self._replies)
        now = trio.current_time()
        while self._not_sent and (self._not_sent[0].is_sent or now - self._not_sent[0].since >= HOLD_S):
            answers += self._not_sent.popleft().tell()
        answers += self._forget(now)
        return answers

    def _answer_to(self, reply: Reply) -> list[SubmissionAnswer]:
        pending = self._pending.pop(reply.number, None)
        if pending is not None:
            return self._answer_to_append(pending, reply)
        waiting = self._waiting.pop(reply.number)
        if reply.error is not None:
            waiting.is_sent = True
            return [SubmissionAnswer(reply.number, failure=AppendFailure.of(reply.error))]
        return [waiting.answer(reply.outcome)]

    def _answer_to_append(self, pending: PendingCommand, reply: Reply) -> list[SubmissionAnswer]:
        """Hold the position of a command that waits for its outcome; answer at once otherwise."""
        if reply.error is not None:
            return [SubmissionAnswer(reply.number, failure=AppendFailure.of(reply.error))]
        if reply.appended is None:
            return [SubmissionAnswer(reply.number, taken=False)]
        if pending.waiter is None:
            return [SubmissionAnswer(reply.number, appended=reply.appended)]
        waiting = _Waiting(reply.number, reply.appended, pending.waiter, pending.since)
        self._waiting[reply.number] = waiting
        if pending.flush or self._appender.draining:
            return waiting.tell()
        self._not_sent.append(waiting)
        return []

    def _forget(self, now: float) -> list[SubmissionAnswer]:
        """Forget commands that have waited too long, or are too many. Their replies are all received."""
        answers: list[SubmissionAnswer] = []
        while self._waiting:
            oldest = next(iter(self._waiting.values()))
            if now - oldest.since < FORGET_S and len(self._waiting) <= MAX_OUTSTANDING:
                break
            del self._waiting[oldest.number]
            oldest.registration.close()
            answers += oldest.tell()
        return answers


@dataclass(slots=True, eq=False)
class _Waiting:
    """A command of the sibling that is in the log and waits for its outcome."""

    number: int
    appended: Appended
    registration: Registration
    since: float
    is_sent: bool = False
    """The position was sent, or need not be."""

    def tell(self) -> list[SubmissionAnswer]:
        """An answer with the position, unless it was sent."""
        if self.is_sent:
            return []
        self.is_sent = True
        return [SubmissionAnswer(self.number, appended=self.appended)]

    def answer(self, outcome: CommandOutcome | None) -> SubmissionAnswer:
        """An answer with the outcome, and with the position unless it was sent."""
        appended, self.is_sent = None if self.is_sent else self.appended, True
        if outcome is not None:
            outcome = CommandOutcome(outcome.position, outcome.rejection, outcome.response)
        return SubmissionAnswer(self.number, appended=appended, outcome=outcome)
