"""A leadership term of a partition: read, load, compute, commit (docs/design/log.md §3 and §4).

Batch N+1 is computed while batch N commits; a commit that fails cancels the term, and both batches are gone. What may
be told of a batch is told after its commit, with no checkpoint in between.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from time import thread_time
from typing import Protocol

import structlog
import trio

from vivero.engine.bpmn.model import Process
from vivero.engine.core.needs import Need, NeedKind
from vivero.engine.core.records.effects import Rejection, RejectionCode
from vivero.engine.core.records.instances import ContinueWork
from vivero.engine.core.rules import TimerRules
from vivero.engine.core.state.catalogue import Definition
from vivero.engine.core.state.state import State
from vivero.engine.core.step import Limits, Processor
from vivero.engine.runtime.consumer import batch
from vivero.engine.runtime.consumer.appended_segments import AppendedSegments
from vivero.engine.runtime.consumer.attempts import Trials, Unworkable
from vivero.engine.runtime.consumer.batch import Work
from vivero.engine.runtime.consumer.cache_eviction import CacheEviction
from vivero.engine.runtime.consumer.engine_time import EngineTime
from vivero.engine.runtime.consumer.observers import CommitObserver, Models, tell
from vivero.engine.runtime.consumer.piggyback import PiggybackedStatements
from vivero.engine.runtime.consumer.read_ahead import ReadAhead
from vivero.engine.runtime.consumer.refusals import SLICES_AWAY, Refusals, Suspected
from vivero.engine.runtime.consumer.settings import ConsumerSettings, ConsumerStats
from vivero.engine.runtime.consumer.slices import Slices
from vivero.engine.runtime.definitions import UnreadableResource
from vivero.engine.runtime.supervision.supervisor import Beat
from vivero.storage import attempts, partitions
from vivero.storage.attempts import Suspicion
from vivero.storage.log import AppendedSegment
from vivero.storage.partitions import Claim
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.errors import DataPoison, StorageError
from vivero.storage.state import load, save
from vivero.storage.state.load import Batch

log = structlog.get_logger(__name__)

COMMIT_DEADLINE_S = 4.0
KEYS_SET_ASIDE = 1_000_000
"""For slices between commands: a batch with commands saves the next key with so many to spare."""
KEYS_OF_A_SLICE = 100_000
"""More than one gives out. The fence refuses a slice that gives out more than were set aside."""
PARSE_S = 60.0
"""The largest file takes two seconds of a processor, of which others may leave little."""
LONG_S = 0.1
"""Of the processor's time: so much has the step of an attempt used, at least, that blocks the event loop."""
LOOK_EVERY_S = 0.1
"""While slices follow each other, the log is looked at so often, for what others append and for the time."""


class Handle(Protocol):
    """What outlives a term: `engine.runtime.consumer.leadership.Consumer`."""

    settings: ConsumerSettings
    timer_rules: TimerRules
    stats: ConsumerStats
    definitions: Models
    observer: CommitObserver
    refusals: Refusals
    look: bool

    async def expect(self, beat: Beat) -> None: ...

    async def wait(self, beat: Beat, seconds: float) -> None: ...


class Term:
    """One leadership term: the cache, the cursor, and what is on its way."""

    def __init__(
        self,
        consumer: Handle,
        writer: Connection,
        reader: Connection,
        claim: Claim,
        beat: Beat,
        trials: Trials,
    ) -> None:
        self._consumer = consumer
        self._settings = consumer.settings
        self._writer, self._reader = writer, reader
        self._claim = claim
        self._beat = beat
        self._trials = trials
        self._state = State(claim.partition, claim.next_key)
        self._eviction = CacheEviction(self._state, self._settings.cache_bytes)
        settings = consumer.settings
        self._limits = Limits(
            settings.slice_items,
            consumer.timer_rules,
            settings.paged_from,
            stage_steps=settings.stage_steps,
            max_part_rows=settings.max_part_rows,
            max_tree_rows=settings.max_tree_rows,
        )
        self._processor = Processor(self._state, self._limits, self._find_model)
        self._previous: trio.Event | None = None
        self._missing: Need | None = None
        self._ahead: list[batch.Decoded] = []
        """Rows that were read and not yet worked: the last batch had enough."""
        self._segments = AppendedSegments()
        self._reading: ReadAhead | None = None
        """Of the rows behind those, while a batch is computed."""
        self._definitions_seq: int | None = None
        self._time = EngineTime()
        self._slices = Slices(consumer.settings.slice_items)
        self._looked = float("-inf")
        self._keys_saved = claim.next_key
        """Keys below this one may be given out between commands."""
        self._renewed = trio.current_time()
        self._moved = trio.current_time()
        self._idle = True
        self.leading = True
        self.last = self._committed = self._reached = claim.position
        """Handed over to be committed; committed; decoded."""
        self._between = False
        """The latest work was a slice between commands."""
        self.per_second = 0.0

    def progressing(self) -> bool:
        """Idle, or the position has moved within the last two seconds."""
        return self._idle or trio.current_time() - self._moved < 2

    async def work(self, nursery: trio.Nursery) -> None:
        while True:
            self._beat.beat()
            turn = self.run_once(nursery)
            with _bugs_told():
                worked = await (self._trials.meter.run(turn) if self._careful else turn)
            if not worked:
                self._idle = True
                await self._consumer.wait(self._beat, self._settings.poll_s)
            await self._renew()

    async def run_once(self, nursery: trio.Nursery) -> bool:
        """At most one batch: read, load, compute, and hand over to be committed. False when the log is worked off."""
        self._consumer.stats.evicted += self._eviction.run()
        careful = self._careful
        if self._slices.due and not careful and await self._go_on(nursery, waited=True):
            return True
        limit = 1 if careful else self._settings.batch_commands
        read = await self._read(limit) if 2 * len(self._ahead) < limit else None
        if read is not None:
            await self._notice(read)
            if careful and read.rows:
                await self._try_alone(read.rows[0].position, nursery)
        decoded = self._ahead + ([] if read is None else batch.decode(read.rows, self._consumer.refusals))
        if not decoded:
            return not careful and await self._go_on(nursery, waited=False)
        self._begin_work()
        self._reached, self._between = decoded[-1].row.position, False
        started = trio.current_time()
        try:
            with self._beat.waiting(self._settings.call_timeout_s):
                leases = await self._load(self._needs(decoded))
                await self._find_models([] if self._missing is None else [self._missing])
            if read is not None and len(read.rows) == limit and not careful:
                self._reading = ReadAhead()
                last, most = decoded[-1].row.position, self._settings.batch_commands
                nursery.start_soon(self._reading.run, partial(self._read_log, last, most))
            self._processor.set_inline(not careful)
            self._processor.cut(self._slices.items)
            work, missing = await batch.compute(self._processor, decoded, self._time.ms, leases, self._fill)
        except DataPoison as poison:
            await self._settled()
            raise Suspected(self.last + 1, decoded[-1].row.position, len(decoded), poison) from poison
        self._note_missing(missing, decoded[0] if work is None else None)
        self._ahead = decoded if work is None else decoded[work.commands :]
        if work is not None:
            self._note_speed(work, trio.current_time() - started)
            await self._hand_over(work, nursery)
            if not all(isinstance(one.command, ContinueWork) for one in decoded[: work.commands]):
                self._slices.note_commands(started, trio.current_time(), self._processor.deferred() is not None)
        return True

    async def _go_on(self, nursery: trio.Nursery, waited: bool) -> bool:
        """A slice of deferred work between commands; False when there is none that could be done now."""
        root = self._processor.deferred()
        if root is None or self._state.next_key + KEYS_OF_A_SLICE > self._keys_saved:
            return False
        self._begin_work()
        self._between = True
        started = trio.current_time()
        self._processor.cut(self._slices.items)
        try:
            await self._fill(batch.needs_of_work(root))
            if not (waited or self._is_asked):
                await self._consumer.expect(self._beat)
            if self._is_asked and not waited:
                return True
            worked = thread_time()  # without what was read: a shorter slice reads no less
            work = await batch.go_on(self._processor, root, self.last, self._time.ms, self._fill)
        except DataPoison as poison:
            await self._settled()
            raise Suspected(self.last + 1, self.last, 0, poison) from poison
        self._slices.fit(trio.current_time(), thread_time() - worked, self._processor.used_up)
        if work is not None:
            await self._hand_over(work, nursery)
        self._slices.note_slice(trio.current_time() - started, waited)
        return True

    @property
    def _is_asked(self) -> bool:
        """Whether commands have come, as far as is known."""
        return bool(self._ahead or self._segments or self._consumer.look)

    @property
    def _careful(self) -> bool:
        """Whether the next command is tried alone."""
        return self.last < self._consumer.refusals.careful_until

    async def _try_alone(self, position: int, nursery: trio.Nursery) -> None:
        """Record the attempt before anything is done for it; nothing else is on its way meanwhile."""
        await self._settled()
        with self._beat.waiting(self._settings.call_timeout_s):
            await self._trials.begin(self._writer, position, nursery)

    @property
    def suspicion(self) -> Suspicion | None:
        """What the term is about: the attempt under way, or all that is not committed; None: nothing."""
        first, last = self._committed + 1, self._reached
        if self._between:
            last = max(last, first + SLICES_AWAY)
        if self._trials.under_way is not None or self._idle or last < first:
            return self._trials.under_way
        return Suspicion(self._claim.partition, self._claim.epoch, first, last, False)

    @property
    def computes(self) -> bool:
        """For other threads: whether the attempt under way is what this process computes, and has for a while."""
        return (self._trials.meter.step_s() or 0.0) > LONG_S

    def _begin_work(self) -> None:
        if self._idle:
            self._idle, self._moved = False, trio.current_time()

    # ---- before computing

    def take(self, segment: AppendedSegment) -> None:
        """Keep it until the log is known up to there; what there is no room for is read from the log instead."""
        self._consumer.look |= not self._segments.add(segment)

    async def _read(self, limit: int) -> Batch | None:
        """What stands behind the rows at hand: what was read ahead, or handed over, or is read now. None: nothing."""
        reading, self._reading = self._reading, None
        with self._beat.waiting(self._settings.call_timeout_s):
            if reading is not None and (ahead := await reading.wait()) is not None and ahead.rows:
                self._consumer.look = True
                return ahead
            behind = self._ahead[-1].row.position if self._ahead else self.last
            handed = self._segments.behind(behind, limit)
            forgotten = self._processor.deferred() is not None and trio.current_time() - self._looked > LOOK_EVERY_S
            if handed is not None or not (self._consumer.look or self._segments or forgotten):
                return handed
            self._consumer.look, self._looked = False, trio.current_time()
            read = await self._read_log(behind, limit)
            self._consumer.look |= bool(read.rows)
            return read

    async def _read_log(self, behind: int, limit: int) -> Batch:
        self._consumer.stats.reads += 1
        return await load.read_batch(self._reader, self._claim.partition, behind, limit)

    async def _notice(self, read: Batch) -> None:
        """The clock and the catalogue as they were when the batch was read."""
        self._time.note(read, trio.current_time())
        state = self._state
        foreign = self._definitions_seq is not None and read.definitions_seq > self._definitions_seq
        crowded = len(state.definitions) > self._settings.max_definitions
        if foreign or crowded:
            await self._settled()
            state.forget_catalogue()
        self._definitions_seq = max(read.definitions_seq, self._definitions_seq or 0)
        if len(state.models) > self._settings.max_models:
            state.models.clear()

    def _needs(self, decoded: list[batch.Decoded]) -> list[Need]:
        needs = batch.needs_of(decoded)
        if self._missing is not None:
            needs.append(self._missing)
        return needs

    async def _load(self, needs: list[Need]) -> dict[int, str | None]:
        if self._reading is not None:
            await self._reading.wait()
        return await load.fill(self._reader, self._state, needs)

    async def _fill(self, needs: list[Need]) -> None:
        """What follow-ups of the batch lack."""
        with self._beat.waiting(self._settings.call_timeout_s):
            await self._load(needs)
            await self._find_models(needs)

    async def _find_models(self, needs: list[Need]) -> None:
        """The models that are needed, of definitions that are loaded."""
        for need in needs:
            definition = self._state.definitions.get(need.key) if need.kind is NeedKind.MODEL else None
            if definition is not None and definition.key not in self._state.models:
                await self._definitions_of(definition)

    async def _definitions_of(self, definition: Definition) -> None:
        try:
            with self._beat.waiting(PARSE_S):  # its thread cannot be cancelled: a child that is given up would not end
                processes = await self._consumer.definitions.resource(definition.sha256, self._reader)
        except UnreadableResource as error:  # of one definition: the others' instances go on
            log.error("a deployed file cannot be read any more", definition=definition.key, problems=str(error))
            return
        if processes is not None:
            self._state.models[definition.key] = processes[definition.process_id]

    def _find_model(self, definition: Definition) -> Process | None:
        processes = self._consumer.definitions.resource_nowait(definition.sha256)
        return None if processes is None else processes[definition.process_id]

    def _note_missing(self, missing: Need | None, stuck: batch.Decoded | None) -> None:
        """What the next batch loads first. What a command still lacks the second time, it will never have."""
        if missing is not None:
            self._consumer.stats.not_loaded += 1
            if stuck is not None and missing == self._missing:
                reason = f"{missing.kind.name} {missing.key}, which the command needs, cannot be loaded"
                stuck.rejection = Rejection(RejectionCode.PROCESSING_ERROR, reason)
                if not isinstance(stuck.command, batch.WAITED_FOR):
                    stuck.command = None
        self._missing = missing

    # ---- after computing

    async def _hand_over(self, work: Work, nursery: trio.Nursery) -> None:
        """Commit, as one pipeline, which is one transaction. A sibling waits for its end, and the next batch begins at
        once: what does not fit into the socket is sent at its checkpoints, while PostgreSQL works on what it has
        (docs/adr/0003)."""
        await self._settled()
        piggybacked = self._piggybacked(work)
        calls = [self._fence(work), *work.calls, *piggybacked.calls]
        if self._careful:
            calls.insert(1, attempts.clear(self._claim.partition, work.last))
        first, self.last = self.last + 1, work.last
        if work.moves_definitions:
            self._definitions_seq = (self._definitions_seq or 0) + 1
        self._previous = trio.Event()
        try:
            self._writer.start_pipeline(calls)
        except StorageError as error:
            piggybacked.lose()
            if isinstance(error, DataPoison):
                raise Suspected(first, work.last, work.commands, error) from error
            raise
        nursery.start_soon(self._commit, work, first, len(calls), piggybacked, self._previous)
        await trio.lowlevel.checkpoint()

    def _piggybacked(self, work: Work) -> PiggybackedStatements:
        """Statements that run with this batch. A batch that failed before runs alone: they may have been the cause."""
        refusals = self._consumer.refusals
        alone_until = max(refusals.careful_until, refusals.piggybacked_until)
        if not (work.commands and work.notices.available) or self.last < alone_until:
            return PiggybackedStatements()
        piggybacked = self._consumer.observer.piggybacked(work.notices.available)
        if piggybacked:
            refusals.piggybacked_until = work.last
        return PiggybackedStatements(piggybacked)

    def _fence(self, work: Work) -> Call:
        """The first statement. While work is deferred, keys are set aside for the slices between commands."""
        claim = self._claim
        if not work.commands:
            told = bool(work.outcomes or work.notices.ended)
            return save.fence_between(claim.partition, claim.epoch, work.last, work.next_key, told)
        aside = KEYS_SET_ASIDE if self._processor.deferred() is not None else 0
        self._keys_saved = work.next_key + aside
        return save.fence(claim.partition, claim.epoch, self.last, work.last, self._keys_saved)

    async def _commit(
        self, work: Work, first: int, statements: int, piggybacked: PiggybackedStatements, done: trio.Event
    ) -> None:
        started = trio.current_time()
        with piggybacked.told():
            try:
                results = await self._writer.finish_pipeline(deadline=started + COMMIT_DEADLINE_S)
            except DataPoison as poison:
                raise Suspected(first, work.last, work.commands, poison) from poison
            if work.commands:
                self._slices.note_commit(trio.current_time() - started)
            self._note_commit(work, statements)
            left = piggybacked.left(results, work.notices.available)
            tell(self._consumer.observer, self._claim.partition, work, left)  # nothing in there waits
        done.set()

    def _note_commit(self, work: Work, statements: int) -> None:
        self._state.committed(work.roots)
        self._committed = work.last
        if self._trials.under_way is not None:
            self._trials.passed(more=self._careful)
        self._moved = trio.current_time()
        stats = self._consumer.stats
        stats.batches, stats.commands = stats.batches + 1, stats.commands + work.commands
        stats.slices += not work.commands
        stats.statements += statements
        self._consumer.refusals.committed(work.last)

    async def _settled(self) -> None:
        """Nothing is on its way any more."""
        if self._previous is not None:
            with self._beat.waiting(COMMIT_DEADLINE_S):
                await self._previous.wait()

    def _note_speed(self, work: Work, seconds: float) -> None:
        rate = work.commands / max(seconds, 0.001)
        self.per_second = rate if not self.per_second else 0.8 * self.per_second + 0.2 * rate

    async def _renew(self) -> None:
        """The lease, between batches and on the writer: a hung consumer loses it."""
        if trio.current_time() - self._renewed < partitions.RENEW_EVERY_S:
            return
        await self._settled()
        with self._beat.waiting(self._settings.call_timeout_s):
            await partitions.renew(self._writer, self._claim)
        self._renewed = trio.current_time()


@contextmanager
def _bugs_told() -> Generator[None]:
    """What our code raises around handlers, at decoding and loading, too, is told from what the storage raises."""
    try:
        yield
    except (StorageError, Suspected, OSError):  # the last is the machine's: no thread, no file
        raise
    except Exception as bug:
        raise Unworkable(f"working a batch raised {type(bug).__name__}: {bug}") from bug
