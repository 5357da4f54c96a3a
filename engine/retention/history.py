"""The chore that deletes ended instances and old rows of the logs that have stayed long enough (docs/retention.md).

Each partition's owner does it, in its term. It judges by a clock of its own, which follows the engine's clock no faster
than `retention.catch_up` allows: a clock that jumps deletes little before somebody notices. It gives way to commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog
import trio

from vivero.core.bpmn.elements.retention_limits import LONGEST_MS
from vivero.engine.jobs.execution import Connections, Execution
from vivero.engine.retention.chore_settings import RetentionSettings, retention_ms
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.retention import archives, history
from vivero.storage.retention.archives import ArchiveProblem, BeforeDeletion
from vivero.storage.retention.history import DELETED, RUNNING, UNKNOWN, Ended, Kept, Times

log = structlog.get_logger(__name__)

ROWS = 500
"""Ended instances that are read at once."""
MAX_STEP_S = 600.0
"""The time, times `catch_up`, by which its clock moves at once at most, however long the chore paused."""
MAX_CHUNK = 400
"""Trees that one statement deletes at most."""
CHUNK_S = 0.02
"""The time that one statement should take: commands of the same tables wait no longer."""
LOG_ROWS = 1_000
"""Rows of the event log that one statement deletes, with their commands: about 10 ms."""
MAX_WAITING = 200
"""Commands that wait to be processed. With more of them, nothing is deleted."""
HELD_S = 3600.0
"""The time until the chore looks again at trees that something referred to."""
LATE_MS = 3_600_000
"""A clock of retention that is later than this is worth a warning, as often as `WARN_S`."""
WARN_S = 3600.0
KEEPERS = ("consumer", "instance")
"""Keepers of old logs that an operator can do something about."""

DeleteOrphans = Callable[[int], Awaitable[None]]
"""Called with a partition in each run, also if nothing is due: deletes files of the archive that nobody needs."""


class Policy:
    """The time for which ended instances stay: by the setting of the process, else its model, else the tenant's."""

    def __init__(self, settings: RetentionSettings, models: Mapping[int, int]) -> None:
        """`models`: key of a definition → milliseconds, 0 for ever, where the model has the property."""
        self._processes = {id: retention_ms(each) for id, each in settings.processes.items()}
        self._tenants = {id: retention_ms(each) for id, each in settings.tenants.items()}
        self._default = retention_ms(settings.instances)
        self._models = {key: each or None for key, each in models.items()}

    def stays_ms(self, ended: Ended) -> int | None:
        """The time for which this instance stays after its end, in ms; None for ever."""
        if ended.process_id in self._processes:
            return self._processes[ended.process_id]
        if ended.definition_key in self._models:
            return self._models[ended.definition_key]
        return self._tenants.get(ended.tenant, self._default)

    @property
    def durations(self) -> list[int]:
        """All times that some instances stay, the shortest first."""
        known = {self._default, *self._processes.values(), *self._tenants.values(), *self._models.values()}
        return sorted(each for each in known if each is not None)


@dataclass(slots=True)
class _Memory:
    """Memory of the chore for a partition in a term. `after`: duration → end and key of the last one seen."""

    epoch: int
    run_at: float
    judged_ms: int = 0
    after: dict[int, tuple[int, int]] = field(default_factory=dict)
    chunk: int = 20
    deleted: int = 0
    """Trees since the clock moved last."""
    held: Kept | None = None
    """The tree that was due first of those that something referred to."""
    late: Kept | None = None
    """The first tree that this run did not come to."""
    position: int = -1
    kept_by: str | None = None
    """The keeper of the oldest log partition, or of the oldest rows of a slow log."""
    again_at: float = float("inf")
    warned_at: float = float("-inf")


class EndedInstances:
    """The chore's handler."""

    def __init__(
        self,
        settings: RetentionSettings,
        connections: Connections,
        before: BeforeDeletion | None = None,
        clock: Callable[[], float] = trio.current_time,
        delete_orphans: DeleteOrphans | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._connections = connections
        self._before = before
        self._delete_orphans = delete_orphans
        self._memories: dict[int, _Memory] = {}

    async def __call__(self, execution: Execution) -> None:
        """Delete what is due in the execution's partition."""
        partition = execution.partition
        if partition is None:
            raise ValueError(f"the chore '{execution.type}' belongs to a partition")
        async with self._connections() as connection:
            policy = Policy(self._settings, await history.of_models(connection))
        log_ms = retention_ms(self._settings.log)
        stays = [*policy.durations, *([] if log_ms is None else [log_ms])]
        memory, step_ms = self._step(partition, execution.epoch)
        async with self._connections() as connection:
            shortest_ms, deleted = min(stays, default=LONGEST_MS), memory.deleted
            times = await history.advance_clock(connection, partition, execution.epoch, step_ms, shortest_ms, deleted)
        if times is None:
            return
        memory.deleted = 0
        self._note(partition, memory, times)
        problem = None
        try:
            if self._delete_orphans is not None:
                await self._delete_orphans(partition)
            await self._work(partition, memory, policy, log_ms)
        except ArchiveProblem as error:
            problem = error
            log.warning("retention waits for the archive", partition=partition, why=describe(error))
        await self._note_run(partition, memory, times, problem)
        if problem is not None:
            raise problem

    async def _work(self, partition: int, memory: _Memory, policy: Policy, log_ms: int | None) -> None:
        for duration in policy.durations:
            if not await self._delete(partition, memory, policy, duration):
                return
        if log_ms is not None:
            await self._drop_logs(partition, memory, memory.judged_ms - log_ms)

    async def _note_run(self, partition: int, memory: _Memory, times: Times, problem: ArchiveProblem | None) -> None:
        """Write down what was done, for people."""
        kept = min((each for each in (memory.held, memory.late) if each is not None), default=None)
        logs_kept_by = memory.kept_by if memory.kept_by in KEEPERS else None
        why = None if problem is None else str(problem)
        async with self._connections() as connection:
            await history.note_run(
                connection, partition, memory.epoch, times.moves, memory.deleted, why, kept, logs_kept_by
            )

    def _step(self, partition: int, epoch: int) -> tuple[_Memory, int]:
        """The memory of a partition, and how far the clock may move (ms): 0 at the beginning of a term."""
        now, memory = self._clock(), self._memories.get(partition)
        if memory is None or memory.epoch != epoch:
            memory = self._memories[partition] = _Memory(epoch, now)
        step_s = min(now - memory.run_at, MAX_STEP_S)
        memory.run_at = now
        return memory, int(step_s * 1000 * self._settings.catch_up)

    def _note(self, partition: int, memory: _Memory, times: Times) -> None:
        """Begin again if the clock was set back, and for what was held."""
        if times.judged_ms < memory.judged_ms or self._clock() >= memory.again_at:
            memory.after, memory.again_at, memory.held = {}, float("inf"), None
        memory.late = None
        memory.judged_ms = times.judged_ms
        late_ms = times.now_ms - times.judged_ms
        if late_ms > LATE_MS and self._clock() >= memory.warned_at + WARN_S:
            memory.warned_at = self._clock()
            log.warning("retention follows a clock that jumped", partition=partition, behind_s=late_ms // 1000)

    async def _delete(self, partition: int, memory: _Memory, policy: Policy, duration: int) -> bool:
        """Delete the trees that stay so long and no longer. False if the run should end."""
        until_ms, last = memory.judged_ms - duration, memory.after.get(duration, (0, 0))
        while True:
            async with self._connections() as connection:
                found = await history.ended(connection, partition, last, until_ms, ROWS)
            due = {
                each.key: each.ended_ms + duration for each in found if each.own and policy.stays_ms(each) == duration
            }
            if due and not await self._delete_all(partition, memory, due, await self._ready(memory, due)):
                return False
            if found:
                last = memory.after[duration] = (found[-1].ended_ms, found[-1].key)
            if len(found) < ROWS:
                return True

    async def _drop_logs(self, partition: int, memory: _Memory, before_ms: int) -> None:
        """Drop log partitions that are older and that nobody needs, and records of trees without events."""
        async with self._connections() as connection:
            dropped, kept_by = await history.drop_log_partitions(connection, partition, memory.epoch, before_ms)
        if dropped:
            log.info("dropped log partitions", partition=partition, count=dropped)
        if kept_by in (None, "cursor"):
            if not await self._delete_log_rows(partition, memory, before_ms):
                return
            async with self._connections() as connection:
                kept_by = await history.log_keeper(connection, partition, before_ms)
        if kept_by != memory.kept_by and kept_by in KEEPERS:
            log.warning("old logs stay", partition=partition, because_of=kept_by)
        memory.kept_by = kept_by
        purged = ROWS
        while purged == ROWS:
            async with self._connections() as connection:
                purged = await history.purge_deleted(connection, partition, memory.epoch, ROWS)

    async def _delete_log_rows(self, partition: int, memory: _Memory, before_ms: int) -> bool:
        """Delete the old rows of the piece that grows, some at a time. False if commands wait."""
        deleted = LOG_ROWS
        while deleted >= LOG_ROWS:
            async with self._connections() as connection:
                if (position := await _position(connection, partition)) is None:
                    return False
                since = trio.current_time()
                deleted = await history.delete_old_log_rows(connection, partition, memory.epoch, before_ms, LOG_ROWS)
                spent_s = trio.current_time() - since
            await trio.sleep(0 if position == memory.position else spent_s)
            memory.position = position
        return True

    async def _ready(self, memory: _Memory, due: Mapping[int, int]) -> list[int]:
        """Those of the trees that may be deleted now: with an archive, those that are in it."""
        if self._before is None:
            async with self._connections() as connection:
                await archives.let_go(connection, list(due))
            return list(due)
        try:
            ready = list(await self._before(list(due)))
        except ArchiveProblem:
            memory.late = _first(due, "the archive is away")
            raise
        if others := due.keys() - set(ready):
            self._hold(memory, _first({key: due[key] for key in others}, "it is not in the archive yet"))
        return ready

    def _hold(self, memory: _Memory, kept: Kept) -> None:
        """Something refers to a tree: look at it again later."""
        memory.again_at = min(memory.again_at, self._clock() + HELD_S)
        memory.held = kept if memory.held is None else min(memory.held, kept)

    async def _delete_all(self, partition: int, memory: _Memory, due: Mapping[int, int], ready: Sequence[int]) -> bool:
        """Delete these trees, a few at a time. False if another term has begun, or commands wait.

        `due`: root → when it was due, in epoch milliseconds.
        """
        done = 0
        while done < len(ready):
            async with self._connections() as connection:
                if (position := await _position(connection, partition)) is None:
                    memory.late = _first({key: due[key] for key in ready[done:]}, "commands come first")
                    return False
                chunk, since = ready[done : done + memory.chunk], trio.current_time()
                verdicts = await self._delete_some(connection, partition, memory, chunk)
                spent_s = trio.current_time() - since
                if not verdicts:
                    return False
            memory.deleted += sum(verdict == DELETED for verdict in verdicts.values())
            for key, verdict in verdicts.items():
                if verdict not in (DELETED, UNKNOWN):
                    by = "something in it runs" if verdict == RUNNING else verdict
                    self._hold(memory, Kept(due[key], key, by))
            done += len(chunk)
            factor = 2.0 if spent_s < CHUNK_S / 2 else 0.5 if spent_s > CHUNK_S * 2 else 1.0
            memory.chunk = max(1, min(MAX_CHUNK, int(memory.chunk * factor)))
            await trio.sleep(0 if position == memory.position else spent_s)
            memory.position = position
        return True

    async def _delete_some(
        self, connection: Connection, partition: int, memory: _Memory, roots: Sequence[int]
    ) -> Mapping[int, str]:
        try:
            return await history.delete_old_trees(connection, partition, memory.epoch, roots)
        except StorageError:
            # Together they may be too large for one statement: the next run takes fewer.
            memory.chunk = max(1, memory.chunk // 4)
            raise


async def _position(connection: Connection, partition: int) -> int | None:
    """The last position of the log; None while commands wait, which come first."""
    waiting, position = await history.load(connection, partition)
    if waiting > MAX_WAITING:
        return None
    return position


def _first(due: Mapping[int, int], by: str) -> Kept:
    return min(Kept(due_ms, key, by) for key, due_ms in due.items())
