"""The way of this process's commands to a sibling that leads their partitions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import trio

from vivero.engine.appender.calls import PendingCommand
from vivero.engine.outcomes.admission import InDoubt
from vivero.engine.outcomes.completions import Completions
from vivero.engine.siblings.records import Frames, Submission, SubmissionAnswer, answers_decoder, frame
from vivero.engine.supervision.wake_up import WakeUp

MAX_OUTSTANDING = 10_000
"""Commands that a sibling has and has not answered. Further ones are appended by this process."""


class Link:
    """One connection. At its end, commands without an answer are in doubt; unsent ones are appended here."""

    def __init__(
        self, stream: trio.abc.Stream, completions: Completions, append_here: Callable[[PendingCommand], None]
    ) -> None:
        """`append_here(pending)` lets this process append a command that the sibling certainly does not append."""
        self._stream, self._completions, self._append_here = stream, completions, append_here
        self._outstanding: dict[int, PendingCommand] = {}
        self._unsent: list[PendingCommand] = []
        self._numbers = count(1)
        self._wake = WakeUp()
        self.open = True

    def take(self, pending: PendingCommand) -> bool:
        """Send a command to the sibling. False if that is not possible. Never waits."""
        if not self.open or len(self._outstanding) + len(self._unsent) >= MAX_OUTSTANDING:
            return False
        self._unsent.append(pending)
        self._wake.set()
        return True

    async def run(self) -> None:
        """Send and receive until the sibling is gone."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send)
                await self._receive()
                nursery.cancel_scope.cancel()
        finally:
            self._end()

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            message = frame([self._submission(pending) for pending in self._sent()])
            try:
                await self._stream.send_all(message)
            except trio.BrokenResourceError:
                return  # the other task notices the end

    def _sent(self) -> list[PendingCommand]:
        """The commands to send now: from here on it is unknown whether they are appended."""
        pendings, self._unsent = [one for one in self._unsent if not one.withdrawn], []
        for pending in pendings:
            pending.sent = True
        return pendings

    def _submission(self, pending: PendingCommand) -> Submission:
        number = next(self._numbers)
        self._outstanding[number] = pending
        return Submission(number, pending.partition, pending.flush, pending.entry)

    async def _receive(self) -> None:
        frames = Frames(self._stream)
        while (body := await frames.receive()) is not None:
            now = trio.current_time()
            for answer in answers_decoder.decode(body):
                self._take_answer(answer, now)

    def _take_answer(self, answer: SubmissionAnswer, now: float) -> None:
        outcome = answer.outcome
        if outcome is not None:
            self._completions.note_outcome(outcome)
        pending = self._outstanding.pop(answer.number, None)
        if pending is None:
            return
        if not answer.taken:
            pending.sent = False
            self._append_here(pending)
        elif answer.appended is not None:
            pending.finish(answer.appended, now)
            if outcome is not None:
                # The wait has begun: an outcome that is not remembered reaches it.
                self._completions.note_outcome(outcome)
        elif answer.failure is not None:
            pending.finish(answer.failure.error)

    def _end(self) -> None:
        self.open = False
        unsent, self._unsent = self._unsent, []
        for pending in unsent:
            self._append_here(pending)
        for pending in self._outstanding.values():
            pending.finish(InDoubt("the process that leads the partition ended before it answered"))
        self._outstanding.clear()
