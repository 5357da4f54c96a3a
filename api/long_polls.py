"""The board at which long polls for jobs wait: one queue for each job type and tenant.

A poll registers before it looks into the database, so that a job which becomes available in between wakes it. As many
pollers are woken as can take what became available, the longest waiting first; one that was woken and does not look
after all passes that on. The first of a queue, and only that one, also looks when the type's next lease or
backoff ends, and now and then by itself: a wake-up is a hint, the table is the truth.

Who waits when a batch of this program makes jobs available need not look: its statement polls on the batch
(`engine.runtime.consumer.piggyback`). What may have been leased to nobody, because an answer was lost, is taken back by
the next looks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID, uuid4

import trio

from vivero.api.memory_budget import MemoryBudget
from vivero.engine.runtime.appender.admission import Overloaded
from vivero.engine.runtime.consumer.piggyback import Subject
from vivero.storage import activation
from vivero.storage.activation import Ask, Lease
from vivero.storage.postgres.driver import Call, QueryResult

MAX_PIGGYBACKED = 4
"""On one batch: each is a statement more in its transaction."""
LOOKS_PER_S = 100.0
"""Looks of pollers by themselves, of all types together, at most: a thousand types are looked for every ten seconds."""
LOST_S = 30.0
"""How long looks go on to take back what was leased to nobody: the statement whose answer was lost may be running."""
NEVER = float("inf")
MAX_LOST = 10_000
"""Tokens of those that are remembered until somebody looks. Of more, the types that wait longest are forgotten."""


class PiggybackedPoll:
    """The statement of a poll on a batch; `engine.runtime.consumer.piggyback.PiggybackedStatement`."""

    __slots__ = ("_limit", "_polls", "_settled", "call", "poller", "token")

    def __init__(self, polls: LongPolls, poller: Poller) -> None:
        self.token = uuid4()
        self.call: Call = activation.activation(poller.ask, self.token)
        self._limit = activation.at_once(poller.ask)
        self.poller = poller
        self._polls = polls
        self._settled = trio.Event()

    @property
    def subject(self) -> Subject:
        return self.poller.subject

    def arrived(self, result: QueryResult) -> bool:
        leases, unfit = activation.looked(result)
        if leases and not self.poller.registered:
            self.lost()
            return False
        self._settle(leases)
        return unfit is None and len(leases) < self._limit and not (leases and self.poller.gone)

    def lost(self) -> None:
        self._polls.note_lost_lease(self.subject, self.token)
        self._settle([])

    async def wait(self) -> None:
        """Until the batch is over, which is soon."""
        await self._settled.wait()

    def _settle(self, leases: list[Lease]) -> None:
        self.poller.piggybacked, self.poller.delivered = None, leases
        self._settled.set()
        self.poller.wake()


class _Queue:
    """The pollers of one job type and tenant, longest waiting first."""

    __slots__ = ("closed", "due_at", "pollers")

    def __init__(self, closed: bool) -> None:
        self.pollers: dict[Poller, None] = {}
        self.closed = closed
        """Nobody waits any more: the program is stopping."""
        self.due_at: float | None = None
        """When the next lease or backoff ends, on Trio's clock; infinity: there is none; None: nobody looked yet."""

    @property
    def first(self) -> Poller:
        return next(iter(self.pollers))


class Poller:
    """One long poll: `looking()`, look, then `found` or `found_nothing` and `wait`, and again."""

    __slots__ = (
        "_nudged",
        "_pause_s",
        "_queue",
        "_sleep",
        "ask",
        "delivered",
        "displaced",
        "gone",
        "piggybacked",
        "woken",
    )

    def __init__(self, queue: _Queue, ask: Ask, pause_s: Callable[[], float]) -> None:
        self._queue = queue
        self._sleep: trio.CancelScope | None = None
        self._nudged = False
        self._pause_s = pause_s
        self.ask = ask
        self.piggybacked: PiggybackedPoll | None = None
        """The batch that is being committed looks for it."""
        self.delivered: list[Lease] = []
        """What it was delivered by a batch."""
        self.woken = False
        """There is a reason to look."""
        self.gone = False
        """The client has left: nothing may be activated for it any more."""
        self.displaced = False
        """Its time is over before it is, for the sake of another client."""

    @property
    def subject(self) -> Subject:
        return self.ask.type, self.ask.tenant

    @property
    def max_jobs(self) -> int:
        return self.ask.limit

    @property
    def registered(self) -> bool:
        """Whether somebody is there who takes, or gives back, what is delivered."""
        return self in self._queue.pollers

    @property
    def is_first(self) -> bool:
        return self._queue.first is self

    @property
    def knows_due(self) -> bool:
        """Whether somebody has looked when the next lease or backoff of the type ends."""
        return self._queue.due_at is not None

    def looking(self) -> None:
        """To be called before each look: what becomes available from now on, the look may have missed."""
        self.woken = False

    def take(self) -> list[Lease]:
        """What a batch has delivered, in place of a look."""
        leases, self.delivered = self.delivered, []
        if leases:
            self.looking()
            self.found(len(leases), len(leases) >= activation.at_once(self.ask))
        return leases

    def found(self, count: int, more: bool = False) -> None:
        """The look, or looks, gave `count` jobs; `more`: some are left, as far as is known."""
        now, due_at, lease_s = trio.current_time(), self._queue.due_at, self.ask.timeout_ms / 1000
        if due_at is not None:
            # What was due by now may have been what was found: then nobody knows what is due next.
            self._queue.due_at = min(due_at, now + lease_s) if due_at > now else None
        self.woken |= more or count >= self.max_jobs  # then there may be more, for the next

    def found_nothing(self, due_in_s: float | None) -> None:
        """The look gave nothing; the type's next lease or backoff ends in so many seconds (None: there is none)."""
        self._queue.due_at = trio.current_time() + due_in_s if due_in_s is not None else float("inf")

    async def wait(self, until: float, disconnected: Callable[[], Awaitable[None]] = trio.sleep_forever) -> bool:
        """Wait for a reason to look, at most until this time of Trio's clock: False if there was none.

        `disconnected` returns when the client has left, which is a reason to stop. What it waits in is cancelled to end
        the wait: who wakes us is mostly the engine, and a task or two less on the way is the worker's gain.
        """
        while not self.woken:
            if self._queue.closed or self.displaced:
                return False
            look_at = self._look_at()
            self._nudged = False
            with trio.CancelScope(deadline=min(until, look_at)) as self._sleep:
                await disconnected()
                self.leave()
            self._sleep = None
            if self.piggybacked is not None:
                await self.piggybacked.wait()
            if not (self.woken or self._nudged):
                return look_at < until
        return True

    @property
    def waiting(self) -> bool:
        """Whether it waits, and would be seen to if there was a reason to look."""
        return self._sleep is not None and not self._sleep.cancel_called

    def can_piggyback(self) -> bool:
        """Whether it waits for nothing but the next job, and looks for it at no cost to the batch."""
        few = len(self.ask.names or ()) <= activation.PIGGYBACKED_VARIABLES
        return few and self.waiting and not self.woken and self.piggybacked is None

    def wake(self) -> None:
        """There is a reason to look."""
        self.woken = True
        self.nudge()

    def nudge(self) -> None:
        """Something has changed for this one: it is the first of the queue now, or the queue is closed."""
        self._nudged = True
        if self._sleep is not None:
            self._sleep.cancel()

    def displace(self) -> None:
        """Wait no longer."""
        self.displaced = True
        self.nudge()

    def leave(self) -> None:
        """The client has left."""
        self.gone = True
        self.wake()

    def _look_at(self) -> float:
        if not self.is_first:
            return float("inf")
        due_at = self._queue.due_at
        return min(trio.current_time() + self._pause_s(), float("inf") if due_at is None else due_at)


class LongPolls:
    """Who waits for which jobs."""

    def __init__(
        self, max_pollers: int = 10_000, slow_poll_s: float = 2.0, answers_bytes: int = 64 * 1024 * 1024
    ) -> None:
        self._queues: dict[tuple[str, str], _Queue] = {}
        self._max_pollers = max_pollers
        self._slow_poll_s = slow_poll_s
        self._count = 0
        self._closed = False
        self.budget = MemoryBudget(answers_bytes)
        """For the answers that are being built."""
        self._lost: dict[Subject, dict[UUID, float]] = {}
        """Under which tokens jobs may be leased to nobody, and until when (Trio's clock) looks take them back."""

    def __len__(self) -> int:
        """How many are waiting."""
        return self._count

    def pause_s(self) -> float:
        """How long the first of a queue waits before it looks by itself: longer, the more types are waited for."""
        return max(self._slow_poll_s, len(self._queues) / LOOKS_PER_S)

    @contextmanager
    def register(self, ask: Ask) -> Iterator[Poller]:
        """A poller for what it asks for, for as long as the block lasts.

        Raises:
            Overloaded: too many are waiting already.
        """
        if self._count >= self._max_pollers:
            raise Overloaded(f"{self._count} requests wait for jobs already")
        subject = (ask.type, ask.tenant)
        queue = self._queues.setdefault(subject, _Queue(self._closed))
        poller = Poller(queue, ask, self.pause_s)
        queue.pollers[poller] = None
        self._count += 1
        try:
            yield poller
        finally:
            self._count -= 1
            poller.gone = True
            if not _remove(queue, poller):
                del self._queues[subject]
            if poller.delivered:
                self.note_lost_lease(subject, UUID(poller.delivered[0].token))

    def available(self, type: str, tenant: str, n: int) -> None:
        """`n` jobs of the type became available: wake as many pollers as can take them. Never waits.

        To be called also when a job was failed with a backoff or got another lease time, so that somebody looks at the
        new date.
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
        """Of each type the longest waiting, for as many types as a batch can take. Never waits."""
        polls: list[PiggybackedPoll] = []
        for subject in available:
            queue = self._queues.get(subject)
            poller = None if queue is None else next(filter(Poller.can_piggyback, queue.pollers), None)
            if poller is not None:
                poller.piggybacked = PiggybackedPoll(self, poller)
                polls.append(poller.piggybacked)
            if len(polls) == MAX_PIGGYBACKED:
                break
        return polls

    def note_lost_lease(self, subject: Subject, token: UUID) -> None:
        """Perhaps: the next look takes it back, whenever that comes, and those of the seconds after it."""
        self._lost[subject] = tokens = self._lost.pop(subject, {})
        tokens[token] = NEVER
        while sum(map(len, self._lost.values())) > MAX_LOST:
            del self._lost[next(iter(self._lost))]
        self.available(*subject, 1)

    def lost_leases(self, subject: Subject) -> list[UUID]:
        """The tokens under which jobs of the type may be leased to nobody."""
        if subject not in self._lost:
            return []
        now = trio.current_time()
        still = {token: until for token, until in self._lost.pop(subject).items() if until > now}
        if still:
            self._lost[subject] = still
        return list(still)

    def taken_back(self, subject: Subject, tokens: Sequence[UUID]) -> None:
        """What comes under these tokens from now on leases nothing; what is running now may."""
        lost, until = self._lost.get(subject, {}), trio.current_time() + LOST_S
        for token in tokens:
            if token in lost:
                lost[token] = min(lost[token], until)

    def close(self) -> None:
        """The program is stopping: whoever waits for a job gets none, at once."""
        self._closed = True
        for queue in self._queues.values():
            queue.closed = True
            for poller in queue.pollers:
                poller.nudge()

    def wake_all(self) -> None:
        """The clock was changed, or notifications may have been lost: everybody looks."""
        for queue in self._queues.values():
            for poller in queue.pollers:
                poller.wake()


def _remove(queue: _Queue, poller: Poller) -> bool:
    """Take a poller off its queue and tell the next what it needs to know; whether any is left."""
    was_first = queue.first is poller
    del queue.pollers[poller]
    if not queue.pollers:
        return False
    if poller.woken or (was_first and queue.due_at is None):
        queue.first.wake()
    elif was_first:
        queue.first.nudge()
    return True
