"""The long polls for jobs that wait: one queue for each job type and tenant.

A poll registers before it looks into the database, so that a job that becomes available in between wakes it. When jobs
become available, enough pollers wake to take them all, the longest waiting first. A poller that was woken and leaves
without a look wakes the next one. Only the first poller of a queue also looks when the type's next lease or backoff
ends, and from time to time without a reason: wake-ups are hints, and the table is the truth.

A poller that waits while a batch of this program makes jobs available need not look: its statement runs in the batch's
transaction (`engine.consumer.piggyback`). If an answer of the database is lost, jobs may be leased without a
worker; the next looks take them back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from uuid import UUID, uuid4

import trio

from vivero.api.activation.job_turns import JobTurns
from vivero.api.http.shared_budget import SharedBudget
from vivero.engine.consumer.piggyback import Subject
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.outcomes.replies import received, tell
from vivero.storage.postgres.driver import Call, QueryResult
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest, Lease
from vivero.storage.work.scan_bounds import ScanBounds, ScanStart, SubjectBounds

MAX_PIGGYBACKED = 4
"""Statements of polls on one batch. Each lengthens its transaction."""
POLLS_PER_S = 100.0
"""The most looks without a wake-up per second, for all types together. With 1,000 types, each has one in 10 s."""
LOST_S = 30.0
"""After the first look that takes back a lost lease, looks repeat that for this time: the statement may be running."""
NEVER = float("inf")
MAX_LOST = 10_000
"""The most tokens of lost leases. Beyond it, the tokens of the types that have waited longest are forgotten."""


class PiggybackedPoll:
    """The statement of a poll on a batch, an `engine.consumer.piggyback.PiggybackedStatement`.

    It sends the leases to the poll when the batch has ended, once, through a memory channel.
    """

    __slots__ = ("_bounds", "_limit", "_polls", "_send", "_start", "call", "poller", "token")

    def __init__(self, polls: LongPolls, poller: Poller, bounds: SubjectBounds) -> None:
        self.token = uuid4()
        self._bounds = bounds
        self._start = None if bounds.plain(trio.current_time()) else bounds.bounded(polls.turns.order(bounds))
        self.call: Call = (
            activation.plain_lease_statement(poller.ask, self.token, first=polls.turns.first(bounds))
            if self._start is None
            else activation.lease_statement(poller.ask, self.token, start=self._start)
        )
        self._limit = activation.at_once(poller.ask)
        self.poller = poller
        self._polls = polls
        self._send, poller.delivery = trio.open_memory_channel[list[Lease]](1)

    @property
    def subject(self) -> Subject:
        return self.poller.subject

    def arrived(self, result: QueryResult) -> bool:
        leases, all_fit = self._learn(result, self._start)
        if not self._settle(leases):
            return False
        return all_fit and len(leases) < self._limit and not (leases and self.poller.gone)

    def _learn(self, result: QueryResult, start: ScanStart | None) -> tuple[list[Lease], bool]:
        """The leases, and whether all available jobs fitted."""
        if start is None:
            plain = activation.read_small_activation(result)
            self._bounds.note_plain(trio.current_time(), plain.large, plain.slow, len(plain.leases) == self._limit)
            return plain.leases, not plain.large
        leases, too_large, seen = activation.read_activation(result)
        if seen is not None:
            self._bounds.learn(start, seen)
        return leases, too_large is None

    def lost(self) -> None:
        self._polls.note_lost_lease(self.subject, self.token)
        self._settle([])

    def _settle(self, leases: list[Lease]) -> bool:
        """Send the leases. False: nobody takes them, because the poll has ended."""
        taken = tell(self._send, leases)
        if leases and not taken:
            self._polls.note_lost_lease(self.subject, self.token)
        self.poller.wake()
        return taken or not leases


class _Queue:
    """The pollers of one job type and tenant, longest waiting first."""

    __slots__ = ("closed", "due_at", "pollers")

    def __init__(self, closed: bool) -> None:
        self.pollers: dict[Poller, None] = {}
        self.closed = closed
        """The program is stopping, and polls do not wait any more."""
        self.due_at: float | None = None
        """The time of Trio's clock when the next lease or backoff ends; infinity: there is none; None: unknown."""

    @property
    def first(self) -> Poller:
        return next(iter(self.pollers))


class Poller:
    """One long poll for the jobs of a tenant. It repeats `looking()`, a look, `found` or `found_nothing`, and a wait.

    A client that wants the jobs of several tenants has a poller for each, and waits for any of them (`wait_for_any`).
    """

    __slots__ = (
        "_leases",
        "_nudged",
        "_pause_s",
        "_queue",
        "_sleep",
        "alone",
        "ask",
        "delivery",
        "displaced",
        "gone",
        "woken",
    )

    def __init__(self, queue: _Queue, ask: ActivationRequest, pause_s: Callable[[], float], alone: bool) -> None:
        self._queue = queue
        self._sleep: trio.CancelScope | None = None
        self._nudged = False
        self._pause_s = pause_s
        self.ask = ask
        self.alone = alone
        """The only poller of its client. Several could get more jobs together from one batch than the client wants."""
        self.delivery: trio.MemoryReceiveChannel[list[Lease]] | None = None
        """Brings the leases of the poll's statement on a batch, once. None: there is no such statement."""
        self._leases: list[Lease] = []
        """The leases that a batch has made for the poll."""
        self.woken = False
        """There is a reason to look."""
        self.gone = False
        """The client has disconnected, so that no jobs may be activated for it."""
        self.displaced = False
        """The poll ends early, because another client needs its place."""

    @property
    def subject(self) -> Subject:
        return self.ask.type, self.ask.tenant

    @property
    def max_jobs(self) -> int:
        return self.ask.limit

    @property
    def is_first(self) -> bool:
        return self._queue.first is self

    @property
    def knows_due(self) -> bool:
        """True if it is known when the next lease or backoff of the type ends."""
        return self._queue.due_at is not None

    def looking(self) -> None:
        """Call this before each look: the look may miss jobs that become available from now on."""
        self.woken = False

    def take(self) -> list[Lease]:
        """The leases that a batch has delivered, which replace a look."""
        self._receive()
        leases, self._leases = self._leases, []
        if leases:
            self.looking()
            self.found(len(leases), len(leases) >= activation.at_once(self.ask))
        return leases

    def found(self, count: int, more: bool = False) -> None:
        """The looks gave `count` jobs. `more`: there may be more of them."""
        now, due_at, lease_s = trio.current_time(), self._queue.due_at, self.ask.timeout_ms / 1000
        if due_at is not None:
            # A lease or backoff that was due may be one of the found jobs. The next due date is unknown then.
            self._queue.due_at = min(due_at, now + lease_s) if due_at > now else None
        self.woken |= more or count >= self.max_jobs  # then there may be more, for the next

    def found_nothing(self, due_in_s: float | None) -> None:
        """The look gave no job. The type's next lease or backoff ends in `due_in_s` seconds (None: there is none)."""
        self._queue.due_at = trio.current_time() + due_in_s if due_in_s is not None else float("inf")

    @property
    def must_end(self) -> bool:
        """True if the poll does not wait any more: the program is stopping, or another client needs the place."""
        return self._queue.closed or self.displaced

    def sleep_in(self, sleep: trio.CancelScope) -> None:
        """The client waits now, and a wake-up cancels `sleep`."""
        self._nudged, self._sleep = False, sleep

    async def awake(self) -> bool:
        """The wait has ended. True if it was for this poller."""
        self._sleep = None
        if not self._receive() and self.delivery is not None:
            self._leases = await self.delivery.receive()  # the batch ends soon
            self.delivery = None
        return self.woken or self._nudged

    @property
    def waiting(self) -> bool:
        """True while the task waits and would notice a wake-up."""
        return self._sleep is not None and not self._sleep.cancel_called

    def can_piggyback(self) -> bool:
        """True if the poll waits for the next job, and its statement costs the batch little."""
        few = len(self.ask.names or ()) <= activation.PIGGYBACKED_VARIABLES
        return few and self.alone and self.waiting and not self.woken and self.delivery is None

    def wake(self) -> None:
        """There is a reason to look."""
        self.woken = True
        self.nudge()

    def nudge(self) -> None:
        """Let the task check its state again: it is the first of the queue now, or must end."""
        self._nudged = True
        if self._sleep is not None:
            self._sleep.cancel()

    def displace(self) -> None:
        """End the wait early, because another client needs the place."""
        self.displaced = True
        self.nudge()

    def leave(self) -> None:
        """The client has disconnected."""
        self.gone = True
        self.wake()

    def close(self) -> list[Lease]:
        """The poll has ended. Returns leases that it did not take."""
        self.gone = True
        if not self._receive() and self.delivery is not None:
            self.delivery.close()
        return self._leases

    def _receive(self) -> bool:
        """Receive the leases of a batch that has ended. False: it has not ended."""
        if self.delivery is not None:
            leases = received(self.delivery)
            if leases is None:
                return False
            self.delivery, self._leases = None, leases
        return True

    def look_at(self) -> float:
        """The time of Trio's clock for a look without a wake-up."""
        if not self.is_first:
            return float("inf")
        due_at = self._queue.due_at
        return min(trio.current_time() + self._pause_s(), float("inf") if due_at is None else due_at)


async def wait_for_any(
    pollers: Sequence[Poller], until: float, disconnected: Callable[[], Awaitable[None]] = trio.sleep_forever
) -> bool:
    """Wait until one of a client's pollers has a reason to look, up to this time of Trio's clock.

    False if there was none. `disconnected` returns when the client disconnects, which ends the wait, too. The wait
    itself runs `disconnected` in a cancel scope, because additional tasks would delay the jobs on their way to the
    worker.
    """
    while not any(poller.woken for poller in pollers):
        if any(poller.must_end for poller in pollers):
            return False
        look_at = min(poller.look_at() for poller in pollers)
        with trio.CancelScope(deadline=min(until, look_at)) as sleep:
            for poller in pollers:
                poller.sleep_in(sleep)
            await disconnected()
            for poller in pollers:
                poller.leave()
        awake = [await poller.awake() for poller in pollers]
        if not any(awake):
            return look_at < until
    return True


class LongPolls:
    """All long polls for jobs of this program."""

    def __init__(
        self,
        max_pollers: int = 10_000,
        slow_poll_s: float = 2.0,
        answers_bytes: int = 64 * 1024 * 1024,
        turns: JobTurns | None = None,
    ) -> None:
        self._queues: dict[tuple[str, str], _Queue] = {}
        self._max_pollers = max_pollers
        self._slow_poll_s = slow_poll_s
        self._count = 0
        self._closed = False
        self._turns = count()
        self.budget = SharedBudget(answers_bytes)
        """The memory for the answers that are being built."""
        self.bounds = ScanBounds()
        """The bounds where looks begin."""
        self.turns = JobTurns() if turns is None else turns
        self._lost: dict[Subject, dict[UUID, float]] = {}
        """The tokens of leases that may have no worker, and the time of Trio's clock until which looks release them."""

    def __len__(self) -> int:
        """The number of registered polls."""
        return self._count

    def in_turn(self, pollers: Sequence[Poller]) -> Sequence[Poller]:
        """The pollers of a client in the order of their looks. Each is the first in turn."""
        if len(pollers) == 1:
            return pollers
        first = next(self._turns) % len(pollers)
        return [*pollers[first:], *pollers[:first]]

    def pause_s(self) -> float:
        """The time after which the first poll of a queue looks without a wake-up. It grows with the number of types."""
        return max(self._slow_poll_s, len(self._queues) / POLLS_PER_S)

    @contextmanager
    def register(self, ask: ActivationRequest, alone: bool = True) -> Iterator[Poller]:
        """A poller for the duration of the block. `alone`: its client has no other.

        Raises:
            Overloaded: there are too many polls.
        """
        if self._count >= self._max_pollers:
            raise Overloaded(f"{self._count} requests wait for jobs, which is the limit")
        subject = (ask.type, ask.tenant)
        queue = self._queues.setdefault(subject, _Queue(self._closed))
        poller = Poller(queue, ask, self.pause_s, alone)
        queue.pollers[poller] = None
        self._count += 1
        try:
            yield poller
        finally:
            self._count -= 1
            leases = poller.close()
            if not _remove(queue, poller):
                del self._queues[subject]
            if leases:
                self.note_lost_lease(subject, UUID(leases[0].token))

    def available(self, type: str, tenant: str, n: int) -> None:
        """Wake enough pollers to take `n` jobs of a type that became available. Never waits.

        Call this also if a job fails with a backoff or its lease gets another end, so that a poller reads the new date.
        """
        queue = self._queues.get((type, tenant))
        if queue is None:
            return
        for poller in queue.pollers:
            if n <= 0:
                break
            poller.wake()
            n -= poller.max_jobs

    def piggybacked(self, available: Mapping[Subject, int]) -> list[PiggybackedPoll]:
        """The statements for a batch: that of the longest waiting poll of each type, up to a limit. Never waits."""
        polls: list[PiggybackedPoll] = []
        now = trio.current_time()
        for subject in available:
            queue = self._queues.get(subject)
            poller = None if queue is None else next(filter(Poller.can_piggyback, queue.pollers), None)
            if poller is not None and not (bounds := self.bounds.of(subject, now)).overdue(now):
                polls.append(PiggybackedPoll(self, poller, bounds))
            if len(polls) == MAX_PIGGYBACKED:
                break
        return polls

    def note_lost_lease(self, subject: Subject, token: UUID) -> None:
        """Remember a lease that may have no worker. The next look takes it back, and so do those within `LOST_S`."""
        self._lost[subject] = tokens = self._lost.pop(subject, {})
        tokens[token] = NEVER
        while sum(map(len, self._lost.values())) > MAX_LOST:
            del self._lost[next(iter(self._lost))]
        self.available(*subject, 1)

    def lost_leases(self, subject: Subject) -> list[UUID]:
        """The tokens of leases of the type that may have no worker."""
        if subject not in self._lost:
            return []
        now = trio.current_time()
        still = {token: until for token, until in self._lost.pop(subject).items() if until > now}
        if still:
            self._lost[subject] = still
        return list(still)

    def taken_back(self, subject: Subject, tokens: Sequence[UUID]) -> None:
        """Statements with these tokens that start from now on lease nothing. Those that run may still lease jobs."""
        lost, until = self._lost.get(subject, {}), trio.current_time() + LOST_S
        for token in tokens:
            if token in lost:
                lost[token] = min(lost[token], until)

    def close(self) -> None:
        """End all polls without a job: the program is stopping."""
        self._closed = True
        for queue in self._queues.values():
            queue.closed = True
            for poller in queue.pollers:
                poller.nudge()

    def end_waits(self) -> None:
        """End the polls that wait now, without a job: their callers may have lost their rights, and must ask again."""
        for queue in self._queues.values():
            for poller in queue.pollers:
                poller.displace()

    def wake_all(self) -> None:
        """Let all polls look, without bounds, because the clock was changed or notifications may be lost."""
        self.bounds.forget()
        for queue in self._queues.values():
            for poller in queue.pollers:
                poller.wake()


def _remove(queue: _Queue, poller: Poller) -> bool:
    """Remove a poller from its queue and wake the next one if necessary. Returns whether the queue has pollers."""
    was_first = queue.first is poller
    del queue.pollers[poller]
    if not queue.pollers:
        return False
    if poller.woken or (was_first and queue.due_at is None):
        queue.first.wake()
    elif was_first:
        queue.first.nudge()
    return True
