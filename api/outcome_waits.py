"""The wait for a command's outcome from before it is appended, with one wake-up."""

from __future__ import annotations

import trio

from vivero.api.services import CompletionRegistry, OutcomeWaiter
from vivero.engine.core.records.base import partition_of
from vivero.engine.runtime.appender.admission import Overloaded
from vivero.engine.runtime.appender.calls import PendingCommand
from vivero.storage.log import Appended, CommandOutcome


class OutcomeWait:
    """Sets `done` when the outcome is known, or when the append failed or calls for another answer.

    The appender itself registers the command for its outcome. So the request need not run in between, and the outcome
    never comes first.
    """

    __slots__ = ("_completions", "_pending", "_waiter", "done")

    def __init__(self, completions: CompletionRegistry, pending: PendingCommand) -> None:
        self._completions, self._pending = completions, pending
        self._waiter: OutcomeWaiter | None = None
        self.done = trio.Event()
        if pending.result is None:
            pending.then = self._appended
        else:
            self._appended(pending.result)

    def outcome(self) -> CommandOutcome | None:
        """The outcome, if it is known. Raises Lost."""
        return None if self._waiter is None else self._waiter.result()

    def close(self) -> None:
        """End the wait."""
        self._pending.then = None
        if self._waiter is not None:
            self._waiter.close()

    def _appended(self, result: Appended | Exception) -> None:
        if isinstance(result, Appended) and result.same_body:
            try:
                self._waiter = self._completions.register(partition_of(result.position), result.position, self.done)
            except Overloaded:
                self.done.set()
        else:
            self.done.set()
