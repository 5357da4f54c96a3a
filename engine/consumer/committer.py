"""Committing the batches of one term, one at a time, while the next one is computed."""

from __future__ import annotations

from time import time_ns

import trio

from vivero.core.state import batches
from vivero.core.state.state import State
from vivero.engine.consumer.attempts import Trials
from vivero.engine.consumer.batch import BatchResult
from vivero.engine.consumer.new_job_leases import BatchLeases
from vivero.engine.consumer.observers import tell
from vivero.engine.consumer.owner import Owner
from vivero.engine.consumer.progress import Progress
from vivero.engine.consumer.quanta import Quanta
from vivero.engine.consumer.rejected_commands import Suspected
from vivero.engine.consumer.traces import BatchTraces
from vivero.engine.supervision.beat import Beat
from vivero.storage.cluster import leadership
from vivero.storage.cluster.leadership import Claim
from vivero.storage.log import attempts
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.errors import DataPoison
from vivero.storage.state import save
from vivero.storage.work import timers

COMMIT_DEADLINE_S = 4.0
RESERVED_KEYS = 1_000_000
"""Keys that a batch with commands reserves, while work is deferred, for the quanta between commands."""
MAX_KEYS_PER_QUANTUM = 100_000
"""More keys than one quantum gives out. The fence rejects a quantum that exceeds the reservation."""


class Committer:
    """The connection that writes, and the batch that is under way on it."""

    def __init__(
        self,
        owner: Owner,
        connection: Connection,
        claim: Claim,
        beat: Beat,
        state: State,
        quanta: Quanta,
        trials: Trials,
        traces: BatchTraces | None = None,
    ) -> None:
        self._owner = owner
        self.connection = connection
        self._claim = claim
        self._beat = beat
        self._state = state
        self._quanta = quanta
        self._trials = trials
        self._traces = traces
        self.progress = Progress(claim.position)
        self._under_way: trio.Event | None = None
        self._reserved_up_to = claim.next_key
        self._renewed_at = trio.current_time()

    @property
    def careful(self) -> bool:
        """Whether the next command runs alone, because one of the commands ahead may end the term."""
        return self.progress.last < self._owner.rejected.careful_until

    @property
    def has_keys_for_quantum(self) -> bool:
        """Whether enough keys are reserved for a quantum between commands."""
        return self._state.next_key + MAX_KEYS_PER_QUANTUM <= self._reserved_up_to

    async def commit_done(self) -> None:
        """Wait until no commit is under way. The end of one that is done costs no turn of the loop."""
        if self._under_way is not None and not self._under_way.is_set():
            with self._beat.waiting(COMMIT_DEADLINE_S):
                await self._under_way.wait()

    async def start(self, work: BatchResult, deferred: bool, nursery: trio.Nursery | None) -> None:
        """Commit a batch as one pipeline, which is one transaction. No other commit may be under way.

        A task of `nursery` waits for its end, and the next batch begins at once: the pipeline sends what does not fit
        into the socket at its own checkpoints, while PostgreSQL works on what it has (docs/adr/0003). Without a nursery
        this call itself waits for the end: a lone batch needs neither a task nor the turns of the loop for it.
        `deferred` tells whether work remains for quanta.
        """
        leases = self._lease_new_jobs(work)
        calls = [self._fence(work, deferred), *work.calls]
        if self.careful:
            calls.insert(1, attempts.clear(self._claim.partition, work.last))
            calls += [timers.note_stuck(self._claim.partition, timer) for timer in self._owner.rejected.unrecorded]
        first, self.progress.last = self.progress.last + 1, work.last
        self._under_way = trio.Event()
        try:
            self.connection.start_pipeline(calls)
        except BaseException as error:
            leases.lose()
            if isinstance(error, DataPoison):
                raise Suspected(first, work.last, work.commands, error) from error
            raise
        if nursery is None:
            with self._beat.waiting(COMMIT_DEADLINE_S):
                await self._finish(work, first, len(calls), leases, self._under_way)
            return
        nursery.start_soon(self._finish, work, first, len(calls), leases, self._under_way)
        await trio.lowlevel.checkpoint()

    async def renew_lease(self) -> None:
        """Renew the lease when it is time: between batches and on the connection that writes, so that a consumer that
        hangs loses it."""
        if trio.current_time() - self._renewed_at < leadership.RENEW_EVERY_S:
            return
        await self.commit_done()
        with self._beat.waiting(self._owner.settings.call_timeout_s):
            await leadership.renew(self.connection, self._claim)
        self._renewed_at = trio.current_time()

    async def hand_over(self) -> None:
        """End the lease, so that another node may claim at once. No commit may be under way."""
        with self._beat.waiting(self._owner.settings.call_timeout_s):
            await leadership.hand_over(self.connection, self._claim)

    def _lease_new_jobs(self, work: BatchResult) -> BatchLeases:
        """Lease new jobs to workers that wait. After a batch that failed, they find their jobs themselves."""
        if work.new_jobs is None or not work.commands or self.careful:
            return BatchLeases()
        leases = BatchLeases(self._owner.observer.lease_new(work.new_jobs.ready, work.now))
        work.calls[work.new_jobs.place] = save.with_leases(work.calls[work.new_jobs.place], *leases.columns)
        return leases

    def _fence(self, work: BatchResult, deferred: bool) -> Call:
        """The first statement. While work is deferred, it reserves keys for the quanta between commands."""
        claim = self._claim
        if not work.commands:
            is_awaited = bool(work.outcomes or work.notices.ended)
            return save.fence_between(claim.partition, claim.epoch, work.last, work.next_key, is_awaited)
        self._reserved_up_to = work.next_key + (RESERVED_KEYS if deferred else 0)
        return save.fence(claim.partition, claim.epoch, self.progress.last, work.last, self._reserved_up_to)

    async def _finish(
        self, work: BatchResult, first: int, statements: int, leases: BatchLeases, done: trio.Event
    ) -> None:
        started, started_ns = trio.current_time(), time_ns() if work.traced else 0
        with leases.lost_without_commit():
            try:
                await self.connection.finish_pipeline(deadline=started + COMMIT_DEADLINE_S)
            except DataPoison as poison:
                raise Suspected(first, work.last, work.commands, poison) from poison
            took = trio.current_time() - started
            if work.commands:
                self._quanta.note_commit(took)
            self._owner.stats.commit_s.note(took)
            self._note_commit(work, statements)
            if self._traces is not None and work.traced:
                self._traces.committed(work.traced, work.commands, started_ns)
            left = leases.left(work.notices.available)
            tell(self._owner.observer, self._claim.partition, work, left)  # no checkpoint up to here
        done.set()

    def _note_commit(self, work: BatchResult, statements: int) -> None:
        batches.committed(self._state, work.roots)
        if self._trials.under_way is not None:
            self._trials.passed(more=self.careful)
        self.progress.commit(work.last)
        stats = self._owner.stats
        stats.batches += 1
        stats.commands += work.commands
        stats.quanta += not work.commands
        stats.statements += statements
        stats.outcomes.update(work.counted)
        if work.notices.ended:
            stats.ended.update([one.state for one in work.notices.ended])
        for (event, type_), count in work.notices.jobs.items():
            stats.jobs.note(event, type_, count)
        if work.notices.incidents:
            stats.incidents.update(work.notices.incidents)
        if work.commands:
            stats.recent.note(work.commands, trio.current_time())
            stats.batch_size.note(work.commands)
            stats.compute_s.note(work.seconds)
        self._owner.rejected.committed(work.last)
