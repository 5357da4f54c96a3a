"""Task: outcomes of commands and ends of instances for the requests that wait for them (docs/design/log.md §8).

Each waiting request owns a memory channel (`engine.outcomes.replies`), and this task has the sending end. The consumer
reports what it committed, and up to which position: the watermark (`committed`). Waiting requests are served in the
same uninterrupted step. A request that registers for a position below the watermark comes too late for that. It is
served from the outcomes that were remembered, or from PostgreSQL by the next sweep, which starts at once.
A sweep queries everything outstanding, at least once a second, whenever a term begins, and when an outcome is late. So
the outcomes of other nodes, and of batches whose commit was in doubt, arrive too. The reports within this process only
make the sweep faster.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import trio

from vivero.core.execution.outcomes import Ended, LastVariable
from vivero.core.partitions.keys import partition_of
from vivero.engine.outcomes.admission import Lost, Overloaded
from vivero.engine.outcomes.replies import Reply
from vivero.engine.outcomes.waiters import EndWaiter, InstanceEnd, OutcomeWaiter, WaiterTable
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.log import command_log
from vivero.storage.log.command_log import Appended, CommandOutcome
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.ticks import next_tick, tick_in


@dataclass(frozen=True, slots=True)
class CompletionsSettings:
    """Limits of waiting and remembering."""

    waiters: int = 10_000
    sweep_s: float = 1.0
    late_s: float = 0.1
    """A sweep looks for outcomes that did not come within this time."""
    recent: int = 4_096
    """The number of outcomes, and of ends, that are remembered for requests that register late."""
    recent_bytes: int = 16_384
    """Larger responses are not remembered, but read from the event log."""
    recent_bytes_of_variables: int = 2_048
    """Larger variables of an ended instance are read from the database by the request that waits for them."""


class Completions:
    """The handle for requests and for the consumer. `run` is the child that sweeps."""

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], settings: CompletionsSettings | None = None
    ) -> None:
        self._connection = DedicatedConnection(connect)
        self._settings = settings = settings or CompletionsSettings()
        self._outcomes: WaiterTable[CommandOutcome | Lost, OutcomeWaiter] = WaiterTable(settings.recent)
        self._ends: WaiterTable[InstanceEnd, EndWaiter] = WaiterTable(settings.recent)
        self._stopping = False
        self._watermarks: dict[int, int] = {}
        self._due = WakeUp()

    # -- for requests; none of these has a checkpoint ---------------------------------------------------------------

    def register(
        self,
        partition: int,
        position: int,
        send: trio.MemorySendChannel[Reply],
        number: int = 0,
        appended: Appended | None = None,
    ) -> OutcomeWaiter:
        """Send the answer to the command at `position`, once, when it comes. It has `number` and `appended`.

        Raises:
            Overloaded: too many are waiting.
        """
        self._check_limit()
        waiter = OutcomeWaiter(self._outcomes, position, send, number, appended)
        # Sweep at once, too, if no watermark of the partition is known yet, because the program has just started.
        if not self._outcomes.add(waiter) and position <= self._watermarks.get(partition, position):
            self._due.set()
        return waiter

    def register_end(self, instance_key: int, send: trio.MemorySendChannel[InstanceEnd]) -> EndWaiter:
        """Send the end of a process instance, once, when it comes. If the program stops before, `send` is closed.

        The next sweep finds an instance that ended long ago. A caller that needs it sooner registers, and then reads.

        Raises:
            Overloaded: too many are waiting.
        """
        self._check_limit()
        waiter = EndWaiter(self._ends, instance_key, send)
        if not self._ends.add(waiter) and self._stopping:
            self.give_up_ends()
        return waiter

    def give_up_ends(self) -> None:
        """The program stops: end the waits for ends, which may take long. Waits for outcomes are short and go on."""
        self._stopping = True
        for waiter in self._ends.take_all():
            waiter.give_up()

    @property
    def waiting(self) -> int:
        """The number of registered waiters."""
        return self._outcomes.count + self._ends.count

    def _check_limit(self) -> None:
        if self.waiting >= self._settings.waiters:
            raise Overloaded(f"{self.waiting} requests already wait for the outcome of their commands")

    # -- for the consumer and the listener; none of these has a checkpoint either -----------------------------------

    def committed(
        self, partition: int, watermark: int, outcomes: Sequence[CommandOutcome], ended: Sequence[Ended]
    ) -> None:
        """A batch of this node was committed, and everything up to `watermark` is known. Serve the waiters."""
        self._watermarks[partition] = watermark
        for outcome in outcomes:
            self.note_outcome(outcome)
        for key, state, variables in ended:
            end = InstanceEnd(state, self._small_texts(variables))
            if not self._ends.tell(key, end):
                self._ends.remember(key, end)

    def note_outcome(self, outcome: CommandOutcome) -> None:
        """The outcome of a command, from a batch that is committed. Serve its waiters, or remember it for late ones."""
        if not self._outcomes.tell(outcome.position, outcome) and self._small(outcome):
            self._outcomes.remember(outcome.position, outcome)

    def _small_texts(self, variables: Sequence[LastVariable] | None) -> dict[str, str] | None:
        if variables is None or sum(len(one.value) for one in variables) > self._settings.recent_bytes_of_variables:
            return None
        return {one.name: one.value for one in variables}

    def _small(self, outcome: CommandOutcome) -> bool:
        return outcome.response is None or len(outcome.response) <= self._settings.recent_bytes

    def processed(self, partition: int, watermark: int) -> None:
        """Another node has processed the partition up to `watermark`. The outcomes are in the event log."""
        if watermark > self._watermarks.get(partition, 0):
            self._watermarks[partition] = watermark
            if self._may_be_answered(partition):
                self._due.set()

    def _may_be_answered(self, partition: int) -> bool:
        """Whether somebody waits for what this partition may have done: for a command that is processed, here or
        elsewhere, or for the end of one of its instances."""
        watermarks = self._watermarks
        outcomes = any(position <= watermarks.get(partition_of(position), 0) for position in self._outcomes.waiters)
        return outcomes or any(partition_of(key) == partition for key in self._ends.waiters)

    def term_began(self) -> None:
        """Forget what earlier terms reported. The database may be another one: a backup, or a standby that lacks the
        last commits, in which positions and keys are assigned again."""
        self._outcomes.forget_recent()
        self._ends.forget_recent()
        self._watermarks.clear()
        self.sweep_soon()

    def sweep_soon(self) -> None:
        """Query everything outstanding now, because a report may have been missed."""
        if self._outcomes.waiters or self._ends.waiters:
            self._due.set()

    # -- the child --------------------------------------------------------------------------------------------------

    async def run(self, beat: Beat) -> None:
        """Sweep when it is due, and once a second. After a reconnect, look for commands that a crash lost."""
        async with self._connection.opened(beat) as connection:
            with beat.waiting(2 * CALL_TIMEOUT_S):
                await self.sweep_once(connection)
                await self.give_up_lost(connection)
            while True:
                with beat.waiting(2 * CALL_TIMEOUT_S):
                    await self.sweep_once(connection)
                await self._until_due(beat)
                beat.beat()

    async def _until_due(self, beat: Beat) -> None:
        """Wait for a reason to sweep: a request, a second, or an outcome that is late. Its notification may be lost.

        A wait that begins while there is no other is seen at the next beat.
        """
        end = tick_in(self._settings.sweep_s)
        waiting: set[int] = set()
        while trio.current_time() < end:
            look_at = next_tick(self._settings.late_s) if self._outcomes.waiters else beat.next_at
            due = await self._due.idle(beat, min(end, look_at))
            if due or not waiting.isdisjoint(self._outcomes.waiters):
                return
            waiting = set(self._outcomes.waiters)

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def sweep_once(self, connection: Connection) -> None:
        """Query all outstanding outcomes and ends, and serve those that are found."""
        self._due.clear()
        if self._outcomes.waiters:
            for outcome in await command_log.outcomes(connection, list(self._outcomes.waiters)):
                self._outcomes.tell(outcome.position, outcome)
        if self._ends.waiters:
            for key, state in await command_log.ended(connection, list(self._ends.waiters)):
                self._ends.tell(key, InstanceEnd(state))

    async def give_up_lost(self, connection: Connection) -> None:
        """Fail the waits for commands that a crash of PostgreSQL lost. Call this after a sweep."""
        if self._outcomes.waiters:
            for position in await command_log.lost(connection, list(self._outcomes.waiters)):
                self._outcomes.tell(position, Lost(f"a crash of PostgreSQL lost the command at position {position}"))
