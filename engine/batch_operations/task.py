"""Task: works on batch operations (docs/batch-operations.md).

The node that leads partition 1 runs it. The tables hold everything, so that each turn begins with what they say, and a
turn that is interrupted anywhere is repeated:

    scan      rows that fit the filter → items, portion by portion, behind a cursor
    take      items → sent (position 0), unless the batch is suspended or canceled
    append    their commands, each with an idempotency key of its own
    mark      the positions of the commands
    settle    outcomes → ends of items and the counts of the batch

Commands of batches never fill the log: `ItemPace` measures how long they wait, and sees who else has commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import structlog
import trio

from vivero.engine.appender.calls import BulkAppender
from vivero.engine.batch_operations import deletions
from vivero.engine.batch_operations.deletions import DELETIONS
from vivero.engine.batch_operations.items import PLANS, Plan, append_of, denied, end_of, end_of_tree
from vivero.engine.batch_operations.pace import ItemPace
from vivero.engine.batch_operations.rests import Rests
from vivero.engine.batch_operations.scan import scan
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.outcomes.admission import NotAppended
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.dedicated_connection import DedicatedConnection
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.log import command_log as command_log
from vivero.storage.log.command_log import Appended, CommandOutcome
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.postgres.ticks import tick_in
from vivero.storage.retention import archives, history
from vivero.storage.retention.archives import ArchiveProblem, BeforeDeletion
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import (
    DELETE_PROCESS_INSTANCE,
    CallerBounds,
    Creator,
    Item,
    ItemEnd,
    Operation,
)

log = structlog.get_logger(__name__)

OPERATIONS = 20
"""Batches that one turn works on. The next turn goes on with others."""
MAX_SENT = 1_000
"""Items of a batch without an outcome. A cancellation may take long, and its commands are processed before."""
PAUSE_S = 0.01
"""The pause before outcomes are looked for again, unless a commit tells of some."""
ROWS_BESIDE = 100
"""Rows that are scanned or cancelled at once beside others."""
REFUSED_S = 0.5
AWAY_S = 15.0
"""The time until a deletion tries an archive again that was away."""
PURGE_EVERY_S, PURGE_ROWS = 60.0, 1_000
DAY_MS = 24 * 3600 * 1000

Rights = Callable[[Connection, Creator, str], Awaitable[CallerBounds]]
"""(connection, creator, type of the batch) → what the creator may change now."""


@dataclass(slots=True)
class _Turn:
    """The result of a turn. `waiting`: commands of batches that wait in the log; `moved`: anything changed."""

    waiting: int = 0
    moved: bool = False
    open: bool = False
    refused: bool = False

    @property
    def pause_s(self) -> float | None:
        """Seconds until the next turn; None: until a notification."""
        if self.refused:
            return REFUSED_S
        if self.moved:
            return 0.0
        return PAUSE_S if self.open else None


class BatchOperations:
    """The handle of the task; `run` is the child. It survives the child's restarts."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        appender: BulkAppender,
        rights: Rights,
        leads: Callable[[], bool] = lambda: True,
        settings: BatchOperationSettings | None = None,
        before_deletion: BeforeDeletion | None = None,
    ) -> None:
        """`leads()` tells whether this node leads partition 1. `before_deletion` archives what is to be deleted."""
        self.settings = settings or BatchOperationSettings()
        self._connection = DedicatedConnection(connect)
        self._appender = appender
        self._rights = rights
        self._leads = leads
        self._before_deletion = before_deletion
        self._archive_at = float("-inf")
        self._deletions = self.settings.portion
        self._epoch = 0
        self._wake = WakeUp()
        self._after = 0
        self._purge_at = float("-inf")
        self._pace = ItemPace(self.settings.in_flight, self.settings.delay_s)
        self._rests = Rests()
        self._plan: tuple[int, Plan | None] | None = None
        """The latest plan, with the key of its batch."""

    def term(self, epoch: int) -> None:
        """This node leads partition 1 in a new term. Writes of earlier terms have no effect."""
        self._epoch = epoch
        self._wake.set()

    def committed(self, partition: int, watermark: int, answers: Sequence[CommandOutcome]) -> None:
        """The log of a partition that this node leads is processed up to a position. `answers`: those of the commit."""
        if self._pace.committed(partition, watermark, answers):
            self._wake.set()

    def wake(self) -> None:
        """Wake the task: a batch was created or changed."""
        self._wake.set()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends."""
        self._connection.close()

    async def run(self, beat: Beat) -> None:
        """Work on batches until cancelled. Raises when the connection is lost; the supervisor restarts it.

        There is a connection only while this node leads partition 1.
        """
        while True:
            await self._sleep(beat, None)
            if self._leads():
                async with self._connection.opened(beat) as connection:
                    self._pace.forget()
                    while self._leads():
                        await self._sleep(beat, await self.run_once(connection, beat))

    async def _sleep(self, beat: Beat, seconds: float | None) -> None:
        beat.beat()
        if seconds is None:
            await self._wake.idle(beat, tick_in(self.settings.check_s))
        elif seconds <= PAUSE_S:
            await self._wake.idle(beat, trio.current_time() + seconds)
        else:
            await beat.sleep(seconds)

    async def run_once(self, connection: Connection, beat: Beat) -> float | None:
        """Work on some batches. Returns the seconds until the next turn; None: until a notification."""
        turn = _Turn()
        self._rests.begin(trio.current_time())
        with beat.waiting(self.settings.call_timeout_s):
            operations = await batch_operations.open_operations(connection, self._after, OPERATIONS)
            await self._purge(connection)
        sent = [await self._advance(connection, operation, turn, beat) for operation in operations]
        self._rests.note_work(turn.moved)
        if rest_s := self._rests.rest_s(trio.current_time(), self._pace.beside, waiting=turn.waiting > 0):
            return rest_s
        for operation, items in zip(operations, sent, strict=True):
            if items is not None:
                await self._send(connection, operation, items, turn, beat)
        self._rests.note_work(turn.moved)
        if operations:
            turn.open = True
            if turn.moved or turn.waiting < self._pace.allowed:
                self._after = operations[0].key  # not while all wait for commands: the next in turn sends the next ones
        return turn.pause_s

    async def _advance(
        self, connection: Connection, operation: Operation, turn: _Turn, beat: Beat
    ) -> Sequence[Item] | None:
        """Scan the filter, or settle what has an outcome. Returns the items without one; None while scanning."""
        if operation.state == "CREATED":
            with beat.waiting(self.settings.scan_timeout_s + self.settings.call_timeout_s):
                turn.moved |= await scan(connection, self._epoch, operation, self.settings, self._rows)
            return None
        with beat.waiting(self.settings.call_timeout_s):
            sent = await batch_operations.sent(connection, operation.key, MAX_SENT)
            settled = await self._settle(connection, operation, [item for item in sent if item.position])
        turn.moved |= bool(settled)
        left = [item for item in sent if item.key not in settled]
        turn.waiting += sum(1 for item in left if item.waits)
        return left

    @property
    def _rows(self) -> int:
        """Rows that are scanned or cancelled at once."""
        return min(self.settings.scan_rows, ROWS_BESIDE) if self._pace.beside else self.settings.scan_rows

    # -- items

    async def _settle(self, connection: Connection, operation: Operation, sent: Sequence[Item]) -> set[int]:
        """End the items whose commands have outcomes. Returns their keys."""
        if not sent:
            return set()
        items = {item.position: item for item in sent}
        outcomes = await command_log.outcomes(connection, [position for position in items if position is not None])
        ends = [end_of(items[outcome.position], outcome) for outcome in outcomes]
        if not ends or not await batch_operations.settle(connection, self._epoch, operation.key, ends):
            return set()
        self._pace.settled([outcome.position for outcome in outcomes])
        return {end.key for end in ends}

    async def _send(
        self, connection: Connection, operation: Operation, sent: Sequence[Item], turn: _Turn, beat: Beat
    ) -> None:
        """Send items that may be lost again, or the next ones. `sent` are the items without an outcome."""
        settings, lost = self.settings, [item for item in sent if not item.position]
        deletes = operation.type in DELETIONS
        if operation.type == DELETE_PROCESS_INSTANCE and trio.current_time() < self._archive_at:
            turn.refused = True
            return
        with beat.waiting(history.PATIENCE_S if deletes else settings.call_timeout_s + settings.append_timeout_s):
            if lost:
                await self._append(connection, operation, lost[: settings.portion], turn)
            elif operation.state != "SUSPENDED":
                await self._go_on(connection, operation, len(sent), turn, beat)

    async def _go_on(self, connection: Connection, operation: Operation, sent: int, turn: _Turn, beat: Beat) -> None:
        """Send the next items, or cancel them if the batch has ended. `sent`: how many have no outcome yet."""
        active = operation.state == "ACTIVE"
        capacity = min(self.settings.portion, self._pace.allowed - turn.waiting, MAX_SENT - sent)
        count = capacity if active else self._rows
        if count <= 0:
            return
        items = await batch_operations.unsent(connection, operation.key, count)
        if items and active:
            await self._send_next(connection, operation, items, turn, beat)
        elif items:
            ends = [ItemEnd(item.key, "CANCELED") for item in items]
            turn.moved |= bool(await batch_operations.settle(connection, self._epoch, operation.key, ends))
        elif not sent:
            await self._finish(connection, operation, turn)

    async def _send_next(
        self, connection: Connection, operation: Operation, items: Sequence[Item], turn: _Turn, beat: Beat
    ) -> None:
        """Send those that the creator of the batch may still change, and fail the others."""
        bounds = await self._rights(connection, operation.creator, operation.type)
        ends = [denied(operation.type, item.key) for item in items if not bounds.allow(item)]
        if ends:
            turn.moved |= bool(await batch_operations.settle(connection, self._epoch, operation.key, ends))
        allowed = [item for item in items if bounds.allow(item)]
        if operation.type in DELETIONS:
            if allowed:
                await self._delete(connection, operation, allowed, bounds, turn, beat)
            return
        taken = await batch_operations.take(connection, self._epoch, operation.key, allowed) if allowed else set()
        if taken:
            await self._append(connection, operation, [item for item in allowed if item.key in taken], turn)

    async def _delete(
        self,
        connection: Connection,
        operation: Operation,
        items: Sequence[Item],
        bounds: CallerBounds,
        turn: _Turn,
        beat: Beat,
    ) -> None:
        """Delete what the next items name. Trees are archived before; while the archive is away, they wait."""
        items = items[: self._deletions]
        try:
            busy, kept = await self._not_archived(connection, operation, items, beat)
        except ArchiveProblem as problem:
            self._archive_at = trio.current_time() + AWAY_S
            log.warning(
                "a deletion waits for the archive", batch=operation.key, items=len(items), why=describe(problem)
            )
            turn.refused = True
            return
        items = [item for item in items if item.key not in busy]
        try:
            if not await deletions.delete(connection, self._epoch, operation, items, bounds, kept):
                return
        except StorageError:
            self._deletions = max(1, self._deletions // 4)  # together they may be too large for one transaction
            raise
        self._deletions = min(self.settings.portion, self._deletions + 1)
        turn.moved = True

    async def _not_archived(
        self, connection: Connection, operation: Operation, items: Sequence[Item], beat: Beat
    ) -> tuple[set[int], list[ItemEnd]]:
        """The instances that others archive now, and the ends of those that cannot be archived."""
        if operation.type != DELETE_PROCESS_INSTANCE:
            return set(), []
        keys = [item.key for item in items]
        if self._before_deletion is None:
            await archives.let_go(connection, keys)
            return set(), []
        ready = await beat.during(partial(self._before_deletion, keys))
        others = [key for key in keys if key not in ready]
        verdicts = await archives.not_archived(connection, others) if others else {}
        busy = {key for key, verdict in verdicts.items() if verdict == history.BUSY}
        return busy, [end_of_tree(key, verdict) for key, verdict in verdicts.items() if key not in busy]

    async def _append(self, connection: Connection, operation: Operation, items: Sequence[Item], turn: _Turn) -> None:
        """Append the commands of items and note their positions. If that fails, the next turn repeats it."""
        plan = await self._plan_of(connection, operation)
        commands = [append_of(operation, item, plan) for item in items]
        self._pace.append()
        appended: Sequence[Appended] = ()
        try:
            appended = await self._appender.append_all(commands, deadline_s=self.settings.append_timeout_s)
        except NotAppended as error:
            log.info(
                "the commands of a batch operation wait", batch=operation.key, items=len(items), why=describe(error)
            )
            turn.refused = True
            return
        finally:
            self._pace.appended(one.position for one in appended)
        positions = [(item.key, one.position) for item, one in zip(items, appended, strict=True)]
        turn.moved |= bool(await batch_operations.mark(connection, self._epoch, operation.key, positions))
        turn.waiting += len(items)

    async def _plan_of(self, connection: Connection, operation: Operation) -> Plan | None:
        """The plan of a batch, which is read once as long as no other batch with a plan comes in between."""
        kind = PLANS.get(operation.type)
        if kind is None:
            return None
        if self._plan is None or self._plan[0] != operation.key:
            plan = await batch_operations.plan_of(connection, operation.key)
            self._plan = operation.key, None if plan is None else msgspec.json.decode(plan, type=kind)
        return self._plan[1]

    async def _finish(self, connection: Connection, operation: Operation, turn: _Turn) -> None:
        state = await batch_operations.finish(connection, self._epoch, operation.key)
        if state is not None:
            turn.moved = True
            log.info("a batch operation has ended", batch=operation.key, type=operation.type, state=state)

    # -- deletion

    async def _purge(self, connection: Connection) -> None:
        """Delete some rows of batches that ended long ago: once a minute, and oftener while there are more."""
        if not self.settings.ended_days or trio.current_time() < self._purge_at:
            return
        age_ms = int(self.settings.ended_days * DAY_MS) + await history.behind_ms(connection)
        count = await batch_operations.purge(connection, age_ms, PURGE_ROWS)
        self._purge_at = trio.current_time() + (PURGE_EVERY_S if count < PURGE_ROWS else self.settings.check_s)
