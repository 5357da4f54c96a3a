"""Task: the log appender. One call appends all commands that wait, so that many requests share it.

Requests hand their commands over through two bounded channels, and wait for the position with a deadline of their own.
`work` (complete, fail, cancel, …) finishes things: it waits while its channel is full, and goes first. `new` (create,
deploy, …) makes more work: it is not admitted while its channel is full or the engine is too far behind.

The appender owns a command once it is handed over. A cancelled request does not cancel its append. The queue of calls
outlives the task, and its next life repeats a call of unknown outcome with the same append id. There is one connection
and one call at a time, and the next call gathers meanwhile. Each connection is a session of its own: PostgreSQL rejects
a call that was sent on an earlier one and arrives late (`storage.log.command_log.begin`, docs/design/log.md §2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from uuid import uuid4

import trio

from vivero.engine.appender.calls import Append, AppendCall, PendingCommand, bisect, pending_command
from vivero.engine.appender.forwarding import Forwarding, LogProgress
from vivero.engine.appender.log_lag import LogLag
from vivero.engine.appender.new_commands import NewCommands, gather
from vivero.engine.appender.settings import AppenderSettings, AppenderStats
from vivero.engine.appender.traces import traced_command
from vivero.engine.appender.transaction_inbox import TransactionInbox
from vivero.engine.outcomes.admission import Draining, InDoubt, NotAppended, Overloaded, Unavailable
from vivero.engine.outcomes.replies import OutcomeRegistry, Replies, Reply, replies_by, reply_by
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.wake_up import WakeUp
from vivero.engine.tracing.tracer import Tracer
from vivero.storage.log import command_log
from vivero.storage.log.command_log import Appended, AppendedSegment, AppenderSession
from vivero.storage.postgres.driver import CONNECT_TIMEOUT_S, Connection
from vivero.storage.postgres.errors import DataPoison, Outage, Retry, StorageError, reason
from vivero.storage.postgres.ticks import tick_in

WorkChannel = tuple[trio.MemorySendChannel[PendingCommand], trio.MemoryReceiveChannel[PendingCommand]]


def _nobody(_partition: int) -> None:
    return None


def _nowhere(_partition: int, _position: int) -> None:
    return None


def _not_taken(_partition: int, _segment: AppendedSegment) -> bool:
    return False


class Appender:
    """The handle for requests, timers and the consumer. `run` is the child.

    It survives restarts of the child, with everything that was handed over.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        settings: AppenderSettings | None = None,
        *,
        appended: Callable[[int, int], None] = _nowhere,
        offer_segment: Callable[[int, AppendedSegment], bool] = _not_taken,
        progress_of: Callable[[int], LogProgress | None] = _nobody,
        led_partitions: Callable[[], Collection[int]] = tuple,
        tracer: Tracer | None = None,
        work: WorkChannel | None = None,
    ) -> None:
        """`appended(partition, last_position)` wakes the readers of that log. It may not wait.

        `offer_segment(partition, segment)` may take over what was appended, so that nobody reads it back. `appended` is
        not called for it then. `progress_of(partition)` tells how far its live owner is; None without one. The appender
        moves the inboxes of `led_partitions()`, which this node leads, to their logs. `work`: both ends of the channel
        of running work. Without it, one of `settings.work_channel` places is opened.
        """
        self.stats = AppenderStats()
        self._connect = connect
        self._settings = settings = settings or AppenderSettings()
        self._appended, self._offer_segment = appended, offer_segment
        self._progress_of, self._led_partitions = progress_of, led_partitions
        self.forward_to_sibling: Callable[[PendingCommand], bool] | None = None
        """`forward_to_sibling(pending)` may let a sibling process append a command of running work."""
        self._tracer = tracer
        self._send_work, self._work = work or trio.open_memory_channel[PendingCommand](settings.work_channel)
        self._new: dict[int, NewCommands] = {}
        """By partition."""
        self._calls: deque[AppendCall] = deque()
        self._filled_inboxes: set[int] = set()
        self._forwarding = Forwarding(settings.forward_count, settings.lag_s)
        self._transactions = TransactionInbox(settings.forward_count, settings.transaction_poll_s, settings.poll_s)
        self._log = LogLag(settings)
        self._wake = WakeUp()
        self._draining = False
        self._poll_at = float("-inf")
        self._out_since: float | None = None
        self._out_because = ""
        self._connection: Connection | None = None
        self._session = AppenderSession(uuid4(), 0)

    # -- for requests ---------------------------------------------------------------------------------------------

    def admits_new(self) -> bool:
        """False if `append` would not admit a new command of any partition at once, because there is too much to do."""
        if self._draining or self._out_since is not None:
            return True  # `append` says why it is not possible
        if self._new and all(new.full or self._lags(partition) is not None for partition, new in self._new.items()):
            self.stats.overloaded += 1
            return False
        return True

    async def append(self, item: Append, *, deadline_s: float) -> Appended:
        """Append a command, and return its position. Waits up to `deadline_s` seconds.

        Raises:
            Overloaded: a limit was reached; certainly nothing was written.
            Unavailable: PostgreSQL was away; certainly nothing was written.
            Draining: the program is stopping; certainly nothing was written.
            ValueRejected: PostgreSQL rejects a value; certainly nothing was written.
            InDoubt: the outcome is unknown; it may be written.
        """
        send, replies = trio.open_memory_channel[Reply | None](1)
        with replies:
            pending = self.begin_append(item, send)
            return await self.finish_append(pending, replies, pending.since + max(deadline_s, 0.0))

    def begin_append(
        self, item: Append, replies: trio.MemorySendChannel[Reply], outcomes: OutcomeRegistry | None = None
    ) -> PendingCommand:
        """Begin to append a command. Call `finish_append` then, unless a reply comes before. Never waits.

        `replies` belongs to the request. With `outcomes` the outcome goes to it, too.

        Raises:
            Overloaded, Unavailable, Draining: as `append` does.
        """
        self._check_open()
        new = item.command.creates_work
        if new and (lag := self._lags(item.partition)) is not None:
            raise self._overloaded(lag)
        pending = traced_command(self._tracer, item, replies, new)
        pending.outcomes = outcomes
        if new:
            pending.patience_until = pending.since + self._settings.new_wait_s
        self._queue(pending)
        return pending

    def begin_pending(self, pending: PendingCommand) -> None:
        """Begin to append a command of a sibling process. Never waits.

        Raises:
            Overloaded, Unavailable, Draining: as `append` does.
        """
        self._check_open()
        self._queue_here(pending)
        if not pending.queued:
            raise self._overloaded(f"{self._settings.work_channel} commands wait for being appended")

    def append_here(self, pending: PendingCommand) -> None:
        """Append a command that was meant for a sibling process, which certainly does not append it. Never waits."""
        pending.queued = False
        try:
            self.begin_pending(pending)
        except NotAppended as error:
            pending.finish(error)

    async def finish_append(self, pending: PendingCommand, replies: Replies, deadline: float) -> Appended:
        """Wait for the position of a command up to `deadline` (Trio's clock). Raises as `append` does.

        `replies` is the request's end of the command's channel.
        """
        until = min(deadline, pending.patience_until)
        if not pending.queued:
            with trio.move_on_at(until):
                await self._hand_over(pending)
        reply = await reply_by(replies, until)
        if reply is None and pending.new:
            reply = await self._wait_on(pending, replies, deadline)
        if reply is None:
            raise pending.given_up(self._give_up(pending))
        return reply.place

    async def append_all(self, items: Sequence[Append], *, deadline_s: float) -> list[Appended]:
        """Append internal commands in their order, and return their positions. All of them wait like `work`.

        Raises:
            NotAppended: as in `append`, for the first command that failed; others may be in the log.
        """
        self._check_open()
        send, replies = trio.open_memory_channel[Reply](len(items))
        pendings = [pending_command(item, send, number=number) for number, item in enumerate(items)]
        until = trio.current_time() + max(deadline_s, 0.0)
        with replies:
            with trio.move_on_at(until):
                for pending in pendings:
                    self._queue(pending)
                    await self._hand_over(pending)
            found = await replies_by(replies, len(items), until)
        for pending in pendings:
            if pending.number not in found:
                found[pending.number] = Reply(pending.number, error=self._give_up(pending))
        return [found[number].place for number in range(len(items))]

    def inbox_filled(self, partition: int) -> None:
        """The inbox of `partition`, which this node leads, has commands for its log."""
        self._filled_inboxes.add(partition)
        self._wake.set()

    def processed(self, partition: int, _position: int = 0) -> None:
        """The engine made progress: the log may have capacity for `new` commands, and for more of the inbox."""
        new = self._new.get(partition)
        has_capacity = new is not None and new.measure_capacity(self._progress_of(partition)) and new.first is not None
        if self._transactions.waits_for(partition) or has_capacity or partition in self._filled_inboxes:
            self._wake.set()

    def last_position(self, partition: int) -> int:
        """The highest known position of the partition's log; 0 if none is known."""
        return self._log.last(partition) or 0

    @property
    def busy(self) -> bool:
        """Whether a command is being appended or waits for it."""
        work = self._work.statistics()
        waiting = self._calls or work.current_buffer_used or work.tasks_waiting_send
        return bool(waiting) or any(new.busy for new in self._new.values())

    def drain(self) -> None:
        """Admit no further commands. `run` returns when all accepted ones are in the log."""
        self._draining = True
        self._wake.set()

    def close(self) -> None:
        """Shut the socket, so that a call that gets no answer ends. The calls stay."""
        if self._connection is not None:
            self._connection.abort()

    def _check_open(self) -> None:
        if self._draining:
            raise Draining("the program is stopping")
        if self._out_since is None:
            return
        out_s = trio.current_time() - self._out_since
        if out_s > self._settings.outage_patience_s:
            raise Unavailable(f"PostgreSQL has not been available for {out_s:.1f} s: {self._out_because}")

    def _lags(self, partition: int) -> str | None:
        """The reason why the log takes no new command; None if it takes one."""
        pace = self._new_commands(partition).pace
        return self._log.refusal(partition, self._progress_of(partition), pace.unprocessed)

    @property
    def draining(self) -> bool:
        """Whether the program is stopping."""
        return self._draining

    def _queue(self, pending: PendingCommand) -> None:
        """Queue a command, here or at a sibling process."""
        if (
            self.forward_to_sibling is not None
            and not pending.new
            and self._out_since is None
            and self.forward_to_sibling(pending)
        ):
            pending.queued = True
        else:
            self._queue_here(pending)

    def _queue_here(self, pending: PendingCommand) -> None:
        """Queue a command. Running work that finds its queue full is queued by `_hand_over`."""
        try:
            if pending.new:
                self._new_commands(pending.partition).put_nowait(pending)
            else:
                self._send_work.send_nowait(pending)
        except trio.WouldBlock:
            if pending.new:
                limit = self._new_commands(pending.partition).limit.commands
                raise self._overloaded(f"{limit} requests wait for being appended") from None
            return
        pending.queued = True
        self._wake.set()

    async def _hand_over(self, pending: PendingCommand) -> None:
        """Wait until the command is queued."""
        if not pending.queued:
            await self._send_work.send(pending)
            pending.queued = True
            self._wake.set()

    def _new_commands(self, partition: int) -> NewCommands:
        new = self._new.get(partition)
        if new is None:
            settings = self._settings
            new = self._new[partition] = NewCommands(settings.new_channel, settings.pace, settings.new_wait_s)
        return new

    async def _wait_on(self, pending: PendingCommand, replies: Replies, deadline: float) -> Reply | None:
        """Keep waiting for a `new` command until `deadline`, unless the log has no capacity for it."""
        while not self._lacks_capacity(pending) and (now := trio.current_time()) < deadline:
            reply = await reply_by(replies, min(deadline, now + self._settings.new_wait_s))
            if reply is not None:
                return reply
        return None

    def _lacks_capacity(self, pending: PendingCommand) -> bool:
        return pending.new and pending.call is None and self._new_commands(pending.partition).first is not None

    def _give_up(self, pending: PendingCommand) -> NotAppended:
        """The deadline passed: withdraw the command, unless it may have been written."""
        if pending.call is not None and pending.call.in_doubt:
            return InDoubt("no answer from PostgreSQL before the deadline")
        if pending.sent:
            return InDoubt("no answer from the process that leads the partition before the deadline")
        pending.withdrawn = True
        if self._out_since is not None:
            return Unavailable(f"PostgreSQL was not available before the deadline: {self._out_because}")
        if self._lacks_capacity(pending):
            return self._overloaded("the engine has more to do than it finishes in time")
        return self._overloaded("the command was not appended before the deadline")

    def _overloaded(self, why: str) -> Overloaded:
        self.stats.overloaded += 1
        return Overloaded(why)

    # -- the child ------------------------------------------------------------------------------------------------

    async def run(self, beat: Beat) -> None:
        """Append and forward until drained. Raises when the connection is lost; the supervisor restarts it."""
        try:
            with beat.waiting(CONNECT_TIMEOUT_S):
                self._connection = connection = await self._connect()
            try:
                with beat.waiting(self._settings.call_timeout_s):
                    await self.begin(connection)
                self._out_since = None
                while not self._draining or self.busy:
                    await self._turn(connection, beat)
            finally:
                connection.close()
        except (Outage, Retry) as error:
            if self._out_since is None:
                self._out_since = trio.current_time()
            self._out_because = reason(error)
            raise

    async def begin(self, connection: Connection) -> None:
        """Begin a session. Calls of earlier sessions are appended before this, or never.

        What is known of the log is read again: the database may be a backup, or a standby that lacks the last commits.
        """
        self._log.forget()
        self._session = AppenderSession(self._session.appender, self._session.number + 1)
        await command_log.begin(connection, *self._session)

    async def run_once(self, connection: Connection, beat: Beat) -> bool:
        """At most one append and one forward. True if there was anything to do."""
        if not self._calls:
            self._gather()
        appends = bool(self._calls)
        if appends:
            await self._make_call(connection, beat, self._calls[0])
        return await self._forward(connection, beat) or appends

    async def _turn(self, connection: Connection, beat: Beat) -> None:
        beat.beat()
        busy = await self.run_once(connection, beat)
        if trio.current_time() >= self._poll_at:
            await self._poll(connection, beat)
        elif not busy:
            await self._wake.idle(beat, min(self._poll_at, self._transactions.look_at))

    async def _poll(self, connection: Connection, beat: Beat) -> None:
        """Look for what is not reported: appends of other nodes, cursors of partitions without an owner, inboxes."""
        led_partitions = self._led_partitions()
        with beat.waiting(self._settings.call_timeout_s):
            for partition in {1, *led_partitions, *self._log}:
                look = await command_log.look(connection, partition)
                if look.is_inbox_filled and partition in led_partitions:
                    self._filled_inboxes.add(partition)
                self._transactions.look_if(look.has_transactions)
                self._note_last(partition, look.last)
                if self._progress_of(partition) is None:
                    known, limit = self.last_position(partition), self._settings.backlog
                    cursor = await command_log.cursor_before(connection, partition, known, limit)
                    self._log.counted(partition, cursor)
                else:
                    self._log.led(partition)
        self._poll_at = tick_in(self._settings.poll_s)

    def _note_last(self, partition: int, position: int) -> None:
        known = self._log.last(partition)
        self._log.appended(partition, position)
        if known is not None and position > known:
            self._appended(partition, position)

    def _gather(self) -> None:
        """Make one call for each partition, `work` first, within the limits of a call."""
        for partition, commands in self._new.items():
            commands.measure_capacity(self._progress_of(partition))
        settings = self._settings
        self._calls.extend(gather(self._work, deque(self._new.values()), settings.call_count, settings.call_bytes))

    async def _make_call(self, connection: Connection, beat: Beat, call: AppendCall) -> None:
        """Make the first of the queued calls. It leaves the queue when its outcome is known."""
        with beat.waiting(self._settings.call_timeout_s):
            if call.since is None:
                call.since = await self._known_position(connection, call.partition)
            doubted = call.in_doubt
            if not doubted:  # no checkpoint from here to the call: a withdrawn command must certainly not be written
                call.items = [item for item in call.items if not item.withdrawn]
                if not call.items:
                    self._calls.popleft()
                    return
            began = trio.current_time()
            try:
                appended, segment = await self._append(connection, call)
            except StorageError as error:
                call.in_doubt = doubted or error.in_doubt
                self._call_failed(call, error)
                return
        self._calls.popleft()
        now = trio.current_time()
        self.stats.call_s.note(now - began)
        self.stats.waited_s.note(now - call.items[0].since)
        self._call_succeeded(call, appended, segment)

    async def _append(self, connection: Connection, call: AppendCall) -> tuple[list[Appended], AppendedSegment | None]:
        since = call.since if call.in_doubt else None
        self.stats.calls, self.stats.repeated = self.stats.calls + 1, self.stats.repeated + call.in_doubt
        call.in_doubt = True
        entries = [item.entry for item in call.items]
        flush = any(item.flush for item in call.items)
        return await command_log.append_segment(
            connection, self._session, call.partition, call.append_id, since, entries, flush
        )

    async def _known_position(self, connection: Connection, partition: int) -> int:
        known = self._log.last(partition)
        if known is None:
            known = await command_log.last_position(connection, partition)
            self._log.appended(partition, known)
        return known

    def _call_succeeded(self, call: AppendCall, appended: list[Appended], segment: AppendedSegment | None) -> None:
        now = trio.current_time()
        for item, result in zip(call.items, appended, strict=True):
            item.finish(result, now)
        fresh = [result.position for result in appended if not result.replayed]
        self.stats.commands += len(fresh)
        self.stats.replays += len(appended) - len(fresh)
        if fresh:
            new = sum(item.new for item in call.items)
            since = min(item.since for item in call.items if not item.new or new == len(call.items))
            pace = self._new_commands(call.partition).pace
            pace.appended(fresh[-1], new, len(call.items) - new, since, now)
            self._note_appended(call.partition, fresh[-1], segment)

    def _note_appended(self, partition: int, position: int, segment: AppendedSegment | None = None) -> None:
        self._log.appended(partition, position)
        if segment is None or not self._offer_segment(partition, segment):
            self._appended(partition, position)

    def _call_failed(self, call: AppendCall, error: StorageError) -> None:
        """Nothing was written, or the outcome is unknown. Raises errors that end this life of the child."""
        if isinstance(error, Outage | Retry):
            raise error
        self._calls.popleft()
        if isinstance(error, DataPoison):
            self.stats.rejected += len(call.items) == 1
            self._calls.extendleft(reversed(bisect(call, error)))
            return
        why = f"the command was not appended: {error}"
        for item in call.items:
            item.finish(InDoubt(why) if call.in_doubt else Unavailable(why))
        raise error

    async def _forward(self, connection: Connection, beat: Beat) -> bool:
        """Move commands from one inbox to its log, if there are any and there is capacity. Follow-ups go first."""
        for partition in sorted(self._filled_inboxes):
            count = self._forwarding.capacity(partition, self._progress_of(partition))
            if count > 0:
                with beat.waiting(self._settings.call_timeout_s):
                    position = await command_log.forward(connection, partition, count)
                if position is None:
                    self._filled_inboxes.discard(partition)
                else:
                    self._forwarding.moved(partition, position, count)
                    self._note_appended(partition, position)
                return True
        with beat.waiting(self._settings.call_timeout_s):
            move = await self._transactions.run_once(connection, self._led_partitions(), self._progress_of)
        if move is not None and move.position is not None:
            self._note_appended(move.partition, move.position)
        return move is not None
