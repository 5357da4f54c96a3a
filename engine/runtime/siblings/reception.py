"""The commands that a sibling sends to this process, because it leads their partitions.

The position of a command and its outcome go back together if the outcome comes soon. Answers share messages.
"""

from __future__ import annotations

from collections import deque

import trio

from vivero.engine.core.records.base import partition_of
from vivero.engine.runtime.appender.admission import Lost, NotAppended, Overloaded
from vivero.engine.runtime.appender.calls import pending_entry
from vivero.engine.runtime.appender.task import Appender
from vivero.engine.runtime.completions import Completions
from vivero.engine.runtime.siblings.records import Answer, Failure, Frames, Submission, frame, submissions_decoder
from vivero.engine.runtime.waiters import Waiter
from vivero.storage.log import Appended, CommandOutcome

HOLD_S = 0.02
"""A position is sent without the outcome after this time."""
FORGET_S = 30.0
"""After this time the sibling looks for the outcome itself."""


class Reception:
    """One connection from a sibling."""

    def __init__(self, stream: trio.abc.Stream, appender: Appender, completions: Completions) -> None:
        self._stream, self.appender, self.completions = stream, appender, completions
        self._answers: list[Answer] = []
        self._waiting: dict[int, _Submitted] = {}
        """Commands without an outcome, the oldest first."""
        self._untold: deque[_Submitted] = deque()
        """Those of them whose positions were not sent when they were appended."""
        self._wake = trio.Event()

    async def run(self) -> None:
        """Append commands and answer until the sibling is gone."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send)
                await self._receive()
                nursery.cancel_scope.cancel()
        finally:
            for submitted in list(self._waiting.values()):
                submitted.close()

    async def _receive(self) -> None:
        frames = Frames(self._stream)
        while (body := await frames.receive()) is not None:
            for submission in submissions_decoder.decode(body):
                self._begin(submission)

    def _begin(self, submission: Submission) -> None:
        pending = pending_entry(submission.entry, submission.partition, submission.flush)
        pending.then = _Submitted(self, submission).appended
        try:
            self.appender.begin_pending(pending)
        except NotAppended:
            self.answer(Answer(submission.number, taken=False))

    # -- for the submitted commands

    def answer(self, answer: Answer) -> None:
        """Send an answer with the next message."""
        self._answers.append(answer)
        self._wake.set()

    def hold(self, submitted: _Submitted) -> None:
        """Send the position of a command after a while, unless its outcome comes before."""
        self._untold.append(submitted)
        if len(self._untold) == 1:
            self._wake.set()  # the sender waits without an end

    def waits(self, submitted: _Submitted) -> None:
        """A command is appended and waits for its outcome."""
        self._waiting[submitted.number] = submitted

    def forget(self, number: int) -> None:
        """A command waits no more."""
        self._waiting.pop(number, None)

    # -- the task that answers

    async def _send(self) -> None:
        while True:
            with trio.move_on_after(HOLD_S if self._untold else float("inf")):
                await self._wake.wait()
            self._wake = trio.Event()
            self._tell_positions(trio.current_time())
            answers, self._answers = self._answers, []
            if answers:
                try:
                    await self._stream.send_all(frame(answers))
                except trio.BrokenResourceError:
                    return  # the other task notices the end

    def _tell_positions(self, now: float) -> None:
        """Answer with the positions of commands that have waited long. Forget those that have waited too long."""
        while self._untold and (self._untold[0].told or now - self._untold[0].at >= HOLD_S):
            self._untold.popleft().tell()
        while self._waiting and now - (oldest := next(iter(self._waiting.values()))).at >= FORGET_S:
            oldest.close()


class _Submitted:
    """A command of the sibling, and what it is told about it."""

    __slots__ = ("_appended", "_flush", "_is_done", "_reception", "_waiter", "at", "number", "told")

    def __init__(self, reception: Reception, submission: Submission) -> None:
        self._reception, self._flush = reception, submission.flush
        self.number = submission.number
        self._appended: Appended | None = None
        self._waiter: Waiter[CommandOutcome] | None = None
        self._is_done = False
        self.told = False
        """The position was sent, or need not be."""
        self.at = trio.current_time()

    def appended(self, result: Appended | Exception) -> None:
        """The appender's result: wait for the outcome, or answer at once."""
        if not isinstance(result, Appended):
            self._reception.answer(Answer(self.number, failure=Failure.of(result)))
            return
        self._appended = result
        if not result.same_body or not self._wait(result.position):
            self.tell()
        elif self._is_done:
            self._finish()
        elif self._flush or self._reception.appender.draining:
            self.tell()
        else:
            self._reception.hold(self)

    def _wait(self, position: int) -> bool:
        """Wait for the outcome. False: too many requests wait."""
        self._reception.waits(self)
        try:
            self._waiter = self._reception.completions.register(partition_of(position), position, self)
        except Overloaded:
            self._reception.forget(self.number)
        return self._waiter is not None

    def set(self) -> None:
        """The outcome is known."""
        self._is_done = True
        if self._waiter is not None:
            self._finish()

    def tell(self) -> None:
        """Answer with the position, unless that was done."""
        if not self.told:
            self.told = True
            self._reception.answer(Answer(self.number, appended=self._appended))

    def _finish(self) -> None:
        """Answer with the outcome, and with the position unless that was done."""
        appended, self.told = None if self.told else self._appended, True
        try:
            found = None if self._waiter is None else self._waiter.result()
        except Lost as error:
            self._reception.answer(Answer(self.number, failure=Failure.of(error)))
        else:
            outcome = None if found is None else CommandOutcome(found.position, found.rejection, found.response)
            self._reception.answer(Answer(self.number, appended=appended, outcome=outcome))
        self.close()

    def close(self) -> None:
        """Wait no more."""
        self.told = True
        self._reception.forget(self.number)
        if self._waiter is not None:
            self._waiter.close()
