"""Task: pulls due executions of background jobs, runs them, and writes their outcomes (docs/background-jobs.md).

The program's own chores have a dispatcher of their own, so that jobs of the user never delay them.

One loop has one connection. In each turn it writes the ends of runs and pulls new ones, in one transaction, so that
many short jobs cost few commits. The usual end of a chore waits for the next turn, if that comes soon enough.
At a quarter of the keep-alive interval it writes the heartbeat of all runs at once.
If a run gets no heartbeat, another node has it. This node cancels it, and its writes are rolled back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog
import trio

from vivero.core.feel.temporal.timers import LATEST_MS
from vivero.engine.jobs import span_names as span
from vivero.engine.jobs.configured import configured
from vivero.engine.jobs.definitions import JobDefinition, JobRegistry, RescheduleIn, Runs
from vivero.engine.jobs.error_texts import place_of, text_of
from vivero.engine.jobs.events import EventReader, execution_of, settle
from vivero.engine.jobs.execution import Connections, Execution, LeaseLost, TransactionalExecution
from vivero.engine.jobs.handlers import Result, call, event_loop
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.jobs.span_names import Spans, no_spans
from vivero.engine.jobs.tracker import JobTracker
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.connected_task import ConnectedTask
from vivero.storage.background import job_executions
from vivero.storage.background.job_executions import (
    Consumers,
    Dispatcher,
    Due,
    Outcomes,
    PullLimits,
    Rescheduled,
    Run,
    Scheduled,
)
from vivero.storage.postgres.driver import CALL_TIMEOUT_S, Connection
from vivero.storage.postgres.errors import describe
from vivero.storage.postgres.given_time import given_time

log = structlog.get_logger(__name__)

EVENTS_S = 0.05
"""The longest time that consumers wait for new events on the node that committed them."""
SHORTEST_PAUSE_S = 0.005
"""The shortest pause until the next execution is due: it lets one turn pull several."""
LOOK_AGAIN_S = 0.02
"""The pause when all due executions that the node found were locked by other nodes."""


@dataclass(slots=True)
class RunFigures:
    """Counts of the dispatcher since the program started."""

    turns: int = 0
    started: int = 0
    completed: int = 0
    retried: int = 0
    failed: int = 0
    recovered: int = 0
    lost: int = 0
    """Runs that lost their lease."""


@dataclass(slots=True)
class _Chores:
    """The heartbeat and the recovery, each with its period in seconds. Both are due at first.

    The recovery waits for a turn that the loop makes anyway, for up to `patience_s`.
    """

    keep_alive: Callable[[Connection], Awaitable[None]]
    keep_alive_s: float
    recover: Callable[[Connection], Awaitable[None]]
    recover_s: float
    patience_s: float
    keep_alive_at: float = 0.0
    recover_at: float = 0.0

    @property
    def next_at(self) -> float:
        return min(self.keep_alive_at, self.recover_at + self.patience_s)

    def begin_runs(self) -> None:
        """Nothing has run up to now. A run that is pulled now begins with a heartbeat."""
        self.keep_alive_at = trio.current_time() + self.keep_alive_s

    async def run_due(self, connection: Connection) -> None:
        now = trio.current_time()
        if now >= self.keep_alive_at:
            await self.keep_alive(connection)
            self.keep_alive_at = now + self.keep_alive_s
        if now >= self.recover_at:
            await self.recover(connection)
            self.recover_at = now + self.recover_s


class JobDispatcher(ConnectedTask):
    """The handle of the task; `run` is the child."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        connections: Connections,
        node: str,
        registry: JobRegistry,
        settings: JobSettings | None = None,
        chores: bool = False,
        spans: Spans = no_spans,
    ) -> None:
        """`connections()` lends connections for the transactions of handlers. `node` is unique to this process.

        With `chores`, the jobs are the program's own: they run by real time, and those of a partition at its owner.
        """
        super().__init__(connect)
        self._connections = connections
        self._node = f"{node}/chores" if chores else node
        self._chores_of = node if chores else None
        self._settings = settings or JobSettings()
        self._span = spans
        self._jobs = configured(registry, self._settings).definitions
        self._types = [name for name, job in self._jobs.items() if not job.paused]
        self._consumers = [name for name, job in self._jobs.items() if job.follows is not None]
        self._new_events: set[int] = set()
        """The partitions with new events."""
        self._commits: Counter[int] = Counter()
        """By partition. A run may have read its events before the last commit: then it runs again soon."""
        self._follows = False
        """True if the last turn had new events. The next turn is then soon, and commits need not wake the task."""
        limits = {name: job.limits for name, job in self._jobs.items() if job.limits is not None}
        self._tracker = JobTracker(self._settings.limits, limits)
        self._threads: set[str] = set()
        """Leases of runs whose threads have not ended. Cancelling a run does not stop its thread."""
        self._outcomes = Outcomes()
        self._turn_at = float("inf")
        """The time of the next turn (Trio's clock); infinite while one is under way. Ends may wait for it."""
        self._pulls_all = False
        """Whether the last turn pulled all that was due, so that the end of a run makes no place that others need."""
        self._clock = (0, 0.0)
        """The time of the jobs in ms (`Due`), and Trio's time when it was read."""
        self.figures = RunFigures()

    @property
    def running(self) -> int:
        """The number of executions that this node runs."""
        return self._tracker.running

    def wake(self) -> None:
        """Wake the task: an execution was added, or the clock was changed."""
        self._wake.set()

    def committed(self, partition: int, _position: int = 0) -> None:
        """Note that a partition has new events. One turn delivers the events of many commits."""
        if self._consumers:
            self._new_events.add(partition)
            self._commits[partition] += 1
            if not self._follows:
                self._wake.set()

    async def run(self, beat: Beat) -> None:
        """Dispatch until cancelled or drained. Raises when the connection is lost; the supervisor restarts it.

        Its runs are cancelled. The next start hands them back without counting an attempt.
        """
        async with self._connection.opened(beat) as connection, event_loop(self._jobs.values()):
            with beat.waiting(CALL_TIMEOUT_S):
                dispatcher = await self._register(connection)
            try:
                async with trio.open_nursery() as nursery:
                    await self._dispatch(connection, dispatcher, beat, nursery)
                    nursery.cancel_scope.cancel()
            finally:
                self._tracker.forget()
            await self._hand_back(connection, dispatcher)

    async def _register(self, connection: Connection) -> Dispatcher:
        unwritten = self._outcomes
        ends = (*unwritten.go_on, *unwritten.failed, *unwritten.failed_scheduled)
        leases = {*self._threads, *(run.lease for run in unwritten.completed), *(end.run.lease for end in ends)}
        dispatcher = await job_executions.register(
            connection, self._node, sorted(leases), list(self._jobs), self._chores_of
        )
        _, _, due = await job_executions.exchange(connection, dispatcher, Outcomes())
        self._note_time(due)
        await self._ensure_executions(connection, dispatcher, [job for job in self._jobs.values() if job.schedule])
        return dispatcher

    async def _ensure_executions(
        self, connection: Connection, dispatcher: Dispatcher, scheduled: Sequence[JobDefinition]
    ) -> None:
        """Make the executions of consumers and schedules that are absent."""
        if self._consumers:
            await job_executions.ensure_consumers(connection, self._consumers)
        jobs = [
            Scheduled(job.type, job.schedule.text, job.schedule.after(self._now_ms()), job.by_partition)
            for job in scheduled
            if job.schedule is not None
        ]
        if jobs:
            await job_executions.ensure_scheduled(connection, dispatcher, jobs)

    async def _dispatch(
        self, connection: Connection, dispatcher: Dispatcher, beat: Beat, nursery: trio.Nursery
    ) -> None:
        """The loop. Returns when the drain is over."""
        recover, recover_s = partial(self._recover, dispatcher), self._settings.stale_s / 4
        patience_s = min(self._settings.poll_s, recover_s)
        chores = _Chores(self._keep_alive, self._settings.beat_s, recover, recover_s, patience_s)
        give_up_at = float("inf")
        while True:
            self._wake.clear()
            if self._draining:
                give_up_at = min(give_up_at, given_time() + self._settings.drain_s)
                if given_time() >= give_up_at or not (self._tracker.running or self._outcomes):
                    return
            self._turn_at = float("inf")
            if not self._tracker.running:
                chores.begin_runs()
            batch, delay_s = self._next_batch()
            with beat.waiting(CALL_TIMEOUT_S):
                runs, due = await self._exchange(connection, dispatcher, batch)
                for run in runs:
                    self._start(run, nursery)
                await chores.run_due(connection)
            until_s = min(chores.next_at - trio.current_time(), give_up_at - given_time())
            pause_s = min(until_s, delay_s, self._pause_s(due, batch.most, len(runs)))
            if self._follows:
                pause_s = min(pause_s, EVENTS_S)
            self._pulls_all = len(batch.types) == len(self._types) and len(runs) < batch.most and not batch.in_cluster
            self._turn_at = min(trio.current_time() + pause_s, self._next_at(runs))
            await self._wake.idle(beat, self._turn_at)

    def _next_batch(self) -> tuple[PullLimits, float]:
        """The limits of a pull now, and the seconds until a pull of what waits until more places are free."""
        if self._draining:
            return job_executions.NOTHING, float("inf")
        found = self._tracker.next_batch(self._types, trio.current_time())
        limits = {name: limit for name in found.types if (limit := self._jobs[name].max_in_cluster) is not None}
        return PullLimits(found.types, found.most, limits) if found else job_executions.NOTHING, found.delay_s

    def _pause_s(self, due: Due, most: int, pulled: int) -> float:
        """The time to wait if nothing wakes the loop."""
        stands_still = due.now_ms == self._clock[0]
        self._note_time(due)
        if most == 0 or pulled == most or due.next_ms is None or stands_still:
            return self._settings.poll_s
        ahead_s = (due.next_ms - due.now_ms) / 1000
        return min(max(ahead_s, SHORTEST_PAUSE_S) if ahead_s > 0 else LOOK_AGAIN_S, self._settings.poll_s)

    def _next_at(self, pulled: Sequence[Run]) -> float:
        """The time at which a chore of these is due again: its end can wait for that turn."""
        if self._chores_of is None:
            return float("inf")
        dues = [self._next_due_ms(run, self._jobs[run.type], None) for run in pulled]
        return min((self._at(due_ms) for due_ms in dues if due_ms is not None), default=float("inf"))

    def _at(self, time_ms: int) -> float:
        """A time of the jobs on Trio's clock, estimated from the last turn."""
        now_ms, read_at = self._clock
        return read_at + (time_ms - now_ms) / 1000

    def _note_time(self, due: Due) -> None:
        self._clock = (due.now_ms, trio.current_time())

    def _now_ms(self) -> int:
        """The time of the jobs, estimated from the last turn."""
        now_ms, read_at = self._clock
        return now_ms + round((trio.current_time() - read_at) * 1000)

    # -- calls

    async def _exchange(
        self, connection: Connection, dispatcher: Dispatcher, batch: PullLimits
    ) -> tuple[list[Run], Due]:
        outcomes, self._outcomes = self._outcomes, Outcomes()
        consumers = Consumers(self._consumers, sorted(self._new_events))
        self._new_events.clear()
        self._follows = bool(consumers.partitions)
        try:
            runs, counted, due = await job_executions.exchange(connection, dispatcher, outcomes, batch, consumers)
        except BaseException:
            # The next start writes them; a repetition does nothing.
            self._outcomes = outcomes.merged_with(self._outcomes)
            raise
        self._count(outcomes, counted)
        self.figures.turns += 1
        return runs, due

    def _count(self, outcomes: Outcomes, counted: set[str]) -> None:
        figures = self.figures
        figures.completed += sum(run.lease in counted for run in outcomes.completed)
        figures.completed += sum(end.error is None and end.run.lease in counted for end in outcomes.go_on)
        figures.retried += sum(end.error is not None and end.run.lease in counted for end in outcomes.go_on)
        figures.failed += sum(end.run.lease in counted for end in (*outcomes.failed, *outcomes.failed_scheduled))
        figures.lost += len(outcomes) - len(counted)

    async def _keep_alive(self, connection: Connection) -> None:
        if not self._tracker.running:
            return
        held = list(self._tracker)
        alive = await job_executions.keep_alive(connection, held)
        for lease in held:
            if lease not in alive:
                self._lose(lease)

    def _lose(self, lease: str) -> None:
        """The run is not this node's any more."""
        if (run := self._tracker.cancel(lease)) is not None:
            log.warning("a background job was taken from this node", job_type=run.type, execution=run.id)
            self.figures.lost += 1

    async def _recover(self, dispatcher: Dispatcher, connection: Connection) -> None:
        by_partition = [job for job in self._jobs.values() if job.by_partition]
        await self._ensure_executions(connection, dispatcher, by_partition)  # there may be new partitions
        types = {
            name: (_retry(job).max_attempts, round(1000 * (job.stale_s or self._settings.stale_s)))
            for name, job in self._jobs.items()
        }
        for id, type, state in await job_executions.recover(connection, types):
            log.warning("recovered a background job without heartbeat", job_type=type, execution=id, state=state)
            self.figures.recovered += 1
            self._wake.set()

    async def _hand_back(self, connection: Connection, dispatcher: Dispatcher) -> None:
        """At a stop, hand back the runs that have not ended. Runs in threads are recovered later if they do not end."""
        await job_executions.hand_back(connection, dispatcher, sorted(self._threads))

    # -- runs

    def _start(self, run: Run, nursery: trio.Nursery) -> None:
        self.figures.started += 1
        nursery.start_soon(self._run_within, run, self._tracker.dispatched(run))

    async def _run_within(self, run: Run, scope: trio.CancelScope) -> None:
        can_wait = False
        with scope, self._span(span.DISPATCH, run):
            can_wait = await self._run(run, self._jobs[run.type])
        self._tracker.completed(run)
        if not can_wait:
            self._wake.set()

    async def _run(self, run: Run, job: JobDefinition) -> bool:
        """Run, and settle the end. True if the next turn is soon enough for what follows from it."""
        reader = None if job.follows is None else EventReader(run, job.follows.types, job.follows.latest)
        execution = self._execution(run, job, reader)
        try:
            try:
                with self._span(span.EXECUTE, run):
                    result = await self._execute(run, job, execution, reader)
                due_ms = self._next_due_ms(run, job, result)
                with self._span(span.COMPLETE, run):
                    await self._succeed(run, execution, due_ms)
            finally:
                if isinstance(execution, TransactionalExecution):
                    await execution.close()
            return self._can_wait(due_ms)  # last: the next turn may have come near meanwhile
        except LeaseLost:
            self._lose(run.lease)
        except (Exception, SystemExit) as error:
            if self._tracker.is_cancelled(run.lease):
                return False
            with self._span(span.FAIL if _retry(job).is_last(run.attempt) else span.RETRY, run):
                self._fail(run, job, error)
        return False

    def _can_wait(self, due_ms: int | None) -> bool:
        """Whether the next turn is soon enough for a run that ended, and whose execution is due again at `due_ms`.

        It comes before that time and within the interval of heartbeats, and no other execution waits for the place.
        Only chores wait: nobody looks at their ends.
        """
        if self._chores_of is None or due_ms is None or self._draining or not self._pulls_all:
            return False
        return self._turn_at <= min(self._at(due_ms), trio.current_time() + self._settings.beat_s)

    async def _execute(self, run: Run, job: JobDefinition, execution: Execution, reader: EventReader | None) -> Result:
        commits = self._commits[run.partition or 0]
        result = await call(job, execution, self._threads)
        if self._tracker.is_cancelled(run.lease):  # in the moment in which the function ended
            raise LeaseLost(run.id)
        if reader is None:
            return result
        await settle(self._connections, execution, reader)
        result = result or RescheduleIn(self._settings.poll_interval if reader.caught_up else 0.0)
        if commits == self._commits[run.partition or 0]:
            return result
        now_ms = self._now_ms()
        return min(result, RescheduleIn(EVENTS_S), key=lambda each: each.due_ms(now_ms))

    def _execution(self, run: Run, job: JobDefinition, reader: EventReader | None) -> Execution:
        if reader is not None:
            return execution_of(run, job.runs, self._connections, reader)
        return TransactionalExecution(run, self._connections) if job.runs is Runs.TRIO else Execution(run)

    async def _succeed(self, run: Run, execution: Execution, due_ms: int | None) -> None:
        """End a run whose execution is complete, or waits until `due_ms`."""

        async def write(connection: Connection) -> bool:
            if due_ms is None:
                return await job_executions.complete_one(connection, run)
            return await job_executions.go_on_one(connection, run, due_ms)

        commits = self._commits[run.partition or 0]
        if isinstance(execution, TransactionalExecution) and await execution.end(write):
            self.figures.completed += 1
            if run.partition is not None and commits != self._commits[run.partition]:
                self._new_events.add(run.partition)  # a turn that told of them may have found the execution running
        elif due_ms is None:
            self._outcomes.completed.append(run)
        else:
            self._outcomes.go_on.append(Rescheduled(run, due_ms, occurrence=run.occurrence + 1))

    def _next_due_ms(self, run: Run, job: JobDefinition, result: Result) -> int | None:
        """The next time of the execution after a success; None: it is complete."""
        now_ms = self._now_ms()
        if result is not None:
            return min(max(result.due_ms(now_ms), 0), LATEST_MS)
        return None if job.schedule is None else job.schedule.after(max(now_ms, run.due_ms))

    def _fail(self, run: Run, job: JobDefinition, error: BaseException) -> None:
        retry, text, place = _retry(job), text_of(error), place_of(error)
        final = _retry(job).is_last(run.attempt)
        log.warning(
            "a background job failed",
            job_type=run.type,
            execution=run.id,
            attempt=run.attempt,
            final=final,
            error=describe(error),
            place=place,
        )
        if not final:
            due_ms = min(self._now_ms() + round(retry.delay_s(run.attempt) * 1000), LATEST_MS)
            self._outcomes.go_on.append(Rescheduled(run, due_ms, run.attempt + 1, run.occurrence, text))
        elif job.schedule is None:
            self._outcomes.failed.append(Rescheduled(run, 0, error=text))
        else:
            due_ms = job.schedule.after(max(self._now_ms(), run.due_ms))
            self._outcomes.failed_scheduled.append(Rescheduled(run, due_ms, run.attempt + 1, run.occurrence + 1, text))


def _retry(job: JobDefinition) -> RetrySettings:
    return job.retry or RetrySettings()
