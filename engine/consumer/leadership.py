"""Task: the log consumer of a partition (docs/design/log.md §4).

It leads the partition for a *term* (`engine/consumer/term.py`). All that a term knows dies with it, and the
next term begins with what the database says.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence

import structlog
import trio

from vivero.core.rules import TIMER_RULES, TimerRules
from vivero.engine.cluster.partition_duty import PartitionDuty
from vivero.engine.consumer.attempts import DATA, Trials, symptom
from vivero.engine.consumer.observers import CommitObserver, ModelSource
from vivero.engine.consumer.rejected_commands import MAX_TIMERS, RejectedCommands, Suspected
from vivero.engine.consumer.settings import ConsumerSettings, ConsumerStats
from vivero.engine.consumer.term import Term
from vivero.engine.counters.counts_by_type import CountsByType
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.children import task_name
from vivero.engine.supervision.failures import leaves
from vivero.engine.tracing.tracer import Tracer
from vivero.storage.cluster import leadership
from vivero.storage.cluster.leadership import Claim
from vivero.storage.log import attempts, held_commands
from vivero.storage.log.attempts import Suspicion
from vivero.storage.log.held_commands import HeldCommands
from vivero.storage.postgres.driver import Connection
from vivero.storage.work import timers

log = structlog.get_logger(__name__)

LOGGED_TIMES = 8
"""Terms in a row at one position that are logged. Of further ones, the 16th, 32nd, … is."""


class Consumer:
    """The handle of a partition's consumer; `run` is the child. It survives the child's restarts."""

    def __init__(
        self,
        connect: Callable[[str], Awaitable[Connection]],
        node: str,
        definitions: ModelSource,
        observer: CommitObserver,
        settings: ConsumerSettings | None = None,
        partition: int = 1,
        timer_rules: TimerRules = TIMER_RULES,
        coming: Callable[[], bool] = lambda: False,
        partition_duty: PartitionDuty | None = None,
        tracer: Tracer | None = None,
        jobs: CountsByType | None = None,
    ) -> None:
        """`connect(name)` makes a connection. `node` is unique to this process. `coming()` tells of appends. `jobs`
        are counts that several consumers share."""
        self.partition = partition
        self.settings = settings or ConsumerSettings()
        self.timer_rules = timer_rules
        self.stats = ConsumerStats() if jobs is None else ConsumerStats(jobs=jobs)
        self._connect = connect
        self._node = node
        self.definitions = definitions
        self.coming = coming
        self.partition_duty = PartitionDuty() if partition_duty is None else partition_duty
        self.observer = observer
        self.tracer = tracer
        self._connections: list[Connection] = []
        self._begun = (0, 0)
        """The position at which the last term began, and how many did in a row."""
        self.rejected = RejectedCommands()
        self._verdict: tuple[Suspicion, str] | None = None
        """The attempt that ended the last term, with the cause. The next term records it."""

    def close(self) -> None:
        """Shut the sockets, so that a call that gets no answer ends."""
        for connection in self._connections:
            connection.abort()

    async def run(self, beat: Beat) -> None:
        """Lead the partition, or wait until it is this node's turn. Raises when a term fails; the next run begins
        another one. A failed term has nothing to release: a claim is void once its connection is closed.
        """
        while True:
            try:
                await self._run_term(beat)
            except Suspected as suspected:
                self.stats.poisoned += 1
                self.rejected.suspect(suspected)

    async def _run_term(self, beat: Beat) -> None:
        """One term. There is no beat before the claim: a node that cannot reach the partition's row is not healthy.
        While another node leads, there is no connection."""
        await self.partition_duty.assignment.near(beat)
        self._connections = []
        try:
            with beat.waiting(self.settings.call_timeout_s):
                writer, reader = await self._open()
            claim = await self._claim(writer, beat)
            if claim is None:
                return
            with beat.waiting(self.settings.call_timeout_s):
                await self._take_stock(writer, claim)
                held = await held_commands.held(writer, claim.partition, claim.position)
            await self._lead(writer, reader, claim, beat, held)
        finally:
            self.close()

    async def _open(self) -> Sequence[Connection]:
        """The connections of writer and reader. They open at the same time, because clients may wait for the term."""
        names = "vivero:consumer-writer", "vivero:consumer-reader"
        opened: dict[str, Connection] = {}

        async def open_one(name: str) -> None:
            opened[name] = connection = await self._connect(task_name(name, self.partition))
            self._connections.append(connection)
            await leadership.prepare(connection)

        try:
            async with trio.open_nursery() as nursery:
                for name in names:
                    nursery.start_soon(open_one, name)
        except BaseExceptionGroup as group:
            raise _cause(group) from None
        return [opened[name] for name in names]

    async def _claim(self, writer: Connection, beat: Beat) -> Claim | None:
        """Claim the partition when it is this node's turn. None if another node should lead."""
        leader: str | None = None
        while await self.partition_duty.assignment.turn(beat):
            try:
                with beat.waiting(self.settings.call_timeout_s):
                    return await leadership.claim(writer, self.partition, self._node)
            except leadership.Owned as owned:
                if owned.node != leader:  # log each new leader once: standing by may take days
                    log.info("standing by", partition=self.partition, leader=owned.node)
                    leader = owned.node
                await beat.sleep(min(max(owned.seconds, 0.1), 1.0))
        return None

    async def _take_stock(self, writer: Connection, claim: Claim) -> None:
        """Record how the last attempt ended, and load what earlier terms recorded of the next commands.

        If the last term made no progress for an unknown reason, commands are tried one by one.
        """
        verdict, self._verdict = self._verdict, None
        if verdict is not None:
            await attempts.end(writer, *verdict)
        self.rejected.learn(claim.position, await attempts.known(writer, claim.partition, claim.position))
        self.rejected.know(reversed(await timers.stuck(writer, claim.partition, MAX_TIMERS)))
        if claim.stands and self.rejected.careful_until <= claim.position:
            most = self.settings.batch_commands
            last = await attempts.waiting(writer, claim.partition, claim.position, most)
            self.rejected.doubt(Suspicion(claim.partition, claim.epoch, claim.position + 1, last, False))

    def _judge(self, term: Term, trials: Trials, error: BaseException | None, beat: Beat) -> None:
        """Decide, after a term ended, whether one of its commands caused that."""
        suspicion = term.suspicion
        if suspicion is None:
            return
        if suspicion.attempt:
            cause = trials.cause(error, beat)
            self._verdict = None if cause is None else (suspicion, cause)
        elif symptom(error, beat) not in (None, DATA):  # `RejectedCommands.suspect` handles DATA
            self.rejected.doubt(suspicion)

    async def _lead(self, writer: Connection, reader: Connection, claim: Claim, beat: Beat, held: HeldCommands) -> None:
        self.stats.terms += 1
        sessions = [writer.backend_pid, reader.backend_pid]
        trials = Trials(claim.partition, claim.epoch, self._connect, sessions, self.settings.call_timeout_s)
        self.partition_duty.term = term = Term(self, writer, reader, claim, beat, trials, held)
        self.partition_duty.must_read_log = True
        beat.report_progress(term.progressing)
        self._log_term(claim)
        self.observer.leads(claim.partition, claim.epoch)
        try:
            async with trio.open_nursery() as nursery:
                await term.work(nursery)
                nursery.cancel_scope.cancel()
            self.partition_duty.assignment.handed_over()
            log.info("handed the partition over", partition=claim.partition, epoch=claim.epoch)
        except BaseExceptionGroup as group:
            raise _cause(group) from None
        finally:
            term.leading = False
            self._judge(term, trials, sys.exception(), beat)

    def _log_term(self, claim: Claim) -> None:
        """Log the beginning of a term. In an outage terms begin again and again at the same position."""
        at, times = self._begun
        times = times + 1 if at == claim.position else 1
        self._begun = claim.position, times
        if times <= LOGGED_TIMES or times.bit_count() == 1:
            log.info("leading the partition", partition=claim.partition, epoch=claim.epoch, position=claim.position)


def _cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The reason for the end of the term: the first error that is not a cancellation caused by another one."""
    return next((error for error in leaves(group) if not isinstance(error, trio.Cancelled)), group)
