"""A leadership term of a partition: read, load, compute, commit (docs/design/log.md).

Batch N+1 is computed while batch N commits, if commands wait or are being appended. A commit that fails cancels the
term, and both batches are lost. Observers hear of a batch after its commit, with no checkpoint in between.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from time import thread_time

import trio

from vivero.core.execution.step import Processor
from vivero.core.needs import Leases, Need
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import ContinueWork
from vivero.core.state import eviction
from vivero.core.state.state import State
from vivero.engine.cluster.assignment import Duty
from vivero.engine.cluster.partition_duty import CachedState
from vivero.engine.consumer import batch
from vivero.engine.consumer.attempts import Trials, Unworkable
from vivero.engine.consumer.batch import BatchResult, Decoded
from vivero.engine.consumer.cache_eviction import CacheEviction
from vivero.engine.consumer.committer import Committer
from vivero.engine.consumer.engine_time import EngineTime
from vivero.engine.consumer.limits import step_limits
from vivero.engine.consumer.loader import Loader
from vivero.engine.consumer.log_reader import LogReader
from vivero.engine.consumer.owner import Owner
from vivero.engine.consumer.quanta import Quanta
from vivero.engine.consumer.rejected_commands import CONTINUATION_DISTANCE, Suspected
from vivero.engine.consumer.traces import BatchTraces
from vivero.engine.supervision.beat import Beat
from vivero.storage.cluster.leadership import Claim
from vivero.storage.log.attempts import Suspicion
from vivero.storage.log.command_log import AppendedSegment
from vivero.storage.log.held_commands import NOTHING_HELD, HeldCommands
from vivero.storage.log.log_batches import LogPage
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import DataPoison, StorageError

LONG_S = 0.1
"""CPU time after which the step of an attempt counts as blocking the event loop."""
MOST_LOADS = 1_000
"""Loads for one command beyond those that it declares. A quantum may need one for each of its items."""


class Term:
    """One leadership term, with its cache of the state. All that it knows dies with it."""

    def __init__(
        self,
        owner: Owner,
        writer: Connection,
        reader: Connection,
        claim: Claim,
        beat: Beat,
        trials: Trials,
        held: HeldCommands = NOTHING_HELD,
    ) -> None:
        self._owner = owner
        self._settings = settings = owner.settings
        self._claim = claim
        self._beat = beat
        self._trials = trials
        self._state = state = State(claim.partition, claim.next_key)
        self._eviction = CacheEviction(state, settings.cache_bytes)
        self._log = LogReader(owner, reader, claim.partition)
        self._loader = Loader(owner, state, self._log, beat)
        self._processor = Processor(
            state, step_limits(settings, owner.timer_rules), self._loader.find_model, self._loader.find_decisions
        )
        self._processor.held.adopt(*held, self._processor.notices)
        self._traces = None
        if owner.tracer is not None:
            self._processor.contexts = self._traces = BatchTraces(owner.tracer, state, claim.partition)
        self._quanta = Quanta(settings.quantum_items)
        self._committer = Committer(owner, writer, claim, beat, state, self._quanta, trials, self._traces)
        self._progress = self._committer.progress
        self._time = EngineTime()
        self._waiting: list[Decoded] = []
        """Commands that were read and not yet processed: the last batch was full."""
        self._missing: list[Need] = []
        """The needs that the first command of the next batch lacked."""
        self.leading = True
        self.per_second = 0.0
        """Commands that the engine processes while there are any, as a moving average."""

    # -- for the consumer

    @property
    def last(self) -> int:
        """The last position that was handed over to be committed."""
        return self._progress.last

    def progressing(self) -> bool:
        """Whether the term is idle, or has committed something within the last seconds, or has handed over its work."""
        return not self.leading or self._progress.moves

    def take(self, segment: AppendedSegment) -> None:
        """Keep a segment of the log that this node appended."""
        self._log.take(segment)

    @property
    def suspicion(self) -> Suspicion | None:
        """The suspects if the term ends now: the attempt under way, or all that is not committed."""
        progress = self._progress
        first, last = progress.committed + 1, progress.decoded
        if progress.between:
            last = max(last, first + CONTINUATION_DISTANCE)
        if self._trials.under_way is not None or progress.idle or last < first:
            return self._trials.under_way
        return Suspicion(self._claim.partition, self._claim.epoch, first, last, False)

    @property
    def computes(self) -> bool:
        """For other threads: whether the attempt under way has kept this process computing for a while."""
        return (self._trials.meter.step_s() or 0.0) > LONG_S

    @property
    def cached(self) -> CachedState:
        """The state in memory."""
        return CachedState(len(self._state.trees), self._state.weight + self._state.channels_weight)

    async def work(self, nursery: trio.Nursery) -> None:
        """Process the log until another node should lead. Then hand the partition over, between two batches."""
        while self._owner.partition_duty.assignment.duty is not Duty.ELSEWHERE:
            self._beat.beat()
            turn = self.run_once(nursery)
            with _bugs_as_unworkable():
                worked = await (self._trials.meter.run(turn) if self._committer.careful else turn)
            if not worked:
                self._progress.idle = True
                await self._owner.partition_duty.wait(self._beat, self._settings.poll_s)
            await self._committer.renew_lease()
        await self._committer.commit_done()
        self.leading = False  # before the lease ends: nothing that is appended now may be kept for this term
        await self._committer.hand_over()

    async def run_once(self, nursery: trio.Nursery) -> bool:
        """Process at most one batch, and start its commit. False when there is nothing to do."""
        self._owner.stats.evicted += self._eviction.run()
        if not self._missing:
            self._loader.unpin()
        careful = self._committer.careful
        if self._quanta.due and not careful and await self._run_quantum(nursery, waited=True):
            return True
        limit = 1 if careful else self._settings.batch_commands
        read = await self._read(limit) if 2 * len(self._waiting) < limit else None
        if careful and read is not None and read.rows:
            await self._record_attempt(read.rows[0].position, nursery)
        fresh = [] if read is None else batch.decode(read.rows, self._owner.rejected)
        commands = self._waiting + fresh
        if not commands:
            return not careful and await self._run_quantum(nursery, waited=False)
        await self._run_commands(commands, careful, nursery, more=len(fresh) == limit)
        return True

    # -- commands

    async def _run_commands(self, commands: list[Decoded], careful: bool, nursery: trio.Nursery, more: bool) -> None:
        """Load, compute and start to commit a batch. `more` tells that the log probably goes on."""
        self._progress.begin()
        self._progress.decoded, self._progress.between = commands[-1].row.position, False
        started = trio.current_time()
        try:
            loaded, leases = await self._load(commands)
            if more and not careful:
                self._log.start_read_ahead(nursery, commands[-1].row.position, self._settings.batch_commands)
            self._processor.set_inline(not careful)
            self._processor.set_quantum(self._quanta.items)
            work, missing = await batch.compute(self._processor, loaded, self._time.ms, leases, self._loader.fill)
        except DataPoison as poison:
            await self._committer.commit_done()
            raise Suspected(self.last + 1, commands[-1].row.position, len(commands), poison) from poison
        self._note_missing(missing, commands[0] if work is None else None)
        self._waiting = commands if work is None else commands[work.commands :]
        if work is not None:
            self._state.values.clear()  # not by a quantum between commands: the command that waits may need several
            self._note_speed(work, trio.current_time() - started)
            await self._commit(work, nursery)
            if work.for_others:
                self._quanta.note_commands(started, trio.current_time(), self._is_deferred)

    async def _load(self, commands: list[Decoded]) -> tuple[list[Decoded], Leases]:
        """Load what the first commands need: as many as have trees that fit into a batch, at least one. Returns them
        and the leases of their jobs.
        """
        missing = self._missing
        fitting: list[Decoded] = []
        with self._beat.waiting(self._settings.call_timeout_s):
            while not fitting:
                loaded = await self._loader.load(missing + batch.needs_of(self._processor, commands))
                fitting = batch.loaded_commands(self._processor, commands, loaded.left_out)
            await self._loader.load_models(missing)
            await self._loader.load_values(missing)
        return fitting, loaded.leases

    async def _read(self, limit: int) -> LogPage | None:
        """The rows behind those that wait; None: there are none."""
        behind = self._waiting[-1].row.position if self._waiting else self.last
        with self._beat.waiting(self._settings.call_timeout_s):
            read = await self._log.read(behind, limit, self._is_deferred)
        if read is not None:
            await self._note_read(read)
        return read

    async def _note_read(self, read: LogPage) -> None:
        """Adopt the clock, the version of the catalogue and the routes that rows were read with."""
        self._time.note(read, trio.current_time())
        if self._loader.may_be_rerouted(read):
            with self._beat.waiting(self._settings.call_timeout_s):
                self._processor.set_routes(await self._loader.routes())
        if self._loader.is_outdated(read):
            await self._committer.commit_done()
            eviction.evict_catalogue(self._state)
        self._loader.note_read(read)

    async def _record_attempt(self, position: int, nursery: trio.Nursery) -> None:
        """Record that a command is tried alone, before anything is done for it, and while no commit is under way."""
        await self._committer.commit_done()
        with self._beat.waiting(self._settings.call_timeout_s):
            await self._trials.begin(self._committer.connection, position, nursery)

    def _note_missing(self, missing: Need | None, stuck: Decoded | None) -> None:
        """Load `missing` first for the next batch, with what the same command lacked before: it may be evicted again.

        A command that lacks the same thing twice will never get it. One that always lacks something else has a limit.
        """
        before = [] if stuck is None else self._missing
        if missing is not None:
            self._owner.stats.not_loaded += 1
            if stuck is not None and missing in before:
                _give_up(stuck, f"{missing.kind.name} {missing.key}, which the command needs, cannot be loaded")
            elif stuck is not None and len(before) >= MOST_LOADS:
                what = f"{missing.kind.name} {missing.key}"
                _give_up(stuck, f"the command needs more than {MOST_LOADS} loads, the next one for {what}")
        self._missing = before if missing is None else [*before, missing]

    def _note_speed(self, work: BatchResult, seconds: float) -> None:
        work.seconds = seconds
        rate = work.commands / max(seconds, 0.001)
        self.per_second = rate if not self.per_second else 0.8 * self.per_second + 0.2 * rate

    @property
    def _is_lone(self) -> bool:
        """Whether there is nothing to do during the commit of a batch, as far as this node knows."""
        return not (self._commands_wait or self._is_deferred or self._committer.careful or self._owner.coming())

    # -- deferred work

    @property
    def _is_deferred(self) -> bool:
        return self._processor.deferred() is not None

    @property
    def _commands_wait(self) -> bool:
        """Whether there are unprocessed commands, as far as this node knows."""
        return bool(self._waiting) or self._log.may_have_more

    async def _run_quantum(self, nursery: trio.Nursery, waited: bool) -> bool:
        """Run a quantum of deferred work between commands; False when there is none that can run now.

        `waited` tells that it is the quantum's turn although commands may wait.
        """
        root = self._processor.deferred()
        if root is None or not self._committer.has_keys_for_quantum:
            return False
        self._progress.begin()
        self._progress.between = True
        started = trio.current_time()
        self._processor.set_quantum(self._quanta.items)
        try:
            await self._loader.fill(batch.needs_of_work(root))
            if not (waited or self._commands_wait) and self._owner.coming():
                await self._owner.partition_duty.expect(self._beat)
            if self._commands_wait and not waited:
                return True
            reading = self._loader.reading
            began, began_s = trio.current_time() - reading.took_s, thread_time() - reading.cpu_s
            work = await batch.run_deferred(
                self._processor,
                root,
                self.last,
                self._time.ms,
                self._loader.fill,
                postponed=lambda: self._commands_wait and not waited,
            )
        except DataPoison as poison:
            await self._committer.commit_done()
            raise Suspected(self.last + 1, self.last, 0, poison) from poison
        worked_s, used_up = thread_time() - reading.cpu_s - began_s, self._processor.used_up
        if work is not None:
            await self._commit(work, nursery)
        elif self._processor.will_continue(ContinueWork(root)):  # it was postponed
            return True
        else:  # its command in the inbox was in no hurry
            await self._committer.commit_done()
            self._owner.observer.inbox_filled(self._claim.partition)
        now = trio.current_time()
        self._quanta.fit(now, worked_s, now - reading.took_s - began, used_up)
        self._quanta.note_quantum(now - started, waited)
        return True

    async def _commit(self, work: BatchResult, nursery: trio.Nursery) -> None:
        await self._committer.commit_done()
        if work.moves_definitions:
            self._loader.note_deployment()
        if self._traces is not None:
            work.traced = self._traces.take()
        await self._committer.start(work, self._is_deferred, None if self._is_lone else nursery)


def _give_up(stuck: Decoded, reason: str) -> None:
    """Reject a command that cannot be loaded. The core quarantines one that something waits for."""
    stuck.rejection = Rejection(RejectionCode.PROCESSING_ERROR, reason)
    if stuck.command is not None and not stuck.command.has_waiter:
        stuck.command = None


@contextmanager
def _bugs_as_unworkable() -> Generator[None]:
    """Tell errors of our own code, decoding and loading included, from those of storage and machine."""
    try:
        yield
    except (StorageError, Suspected, OSError):  # OSError: the machine has no thread or file left
        raise
    except Exception as bug:
        raise Unworkable(f"processing a batch raised {type(bug).__name__}: {bug}") from bug
