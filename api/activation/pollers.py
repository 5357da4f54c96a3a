"""The pollers of one queue of long polls, and their waits. A wait is one sleep of the poll's own task."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import trio

from vivero.engine.consumer.new_job_leases import Subject
from vivero.engine.outcomes.replies import received
from vivero.storage.work.activation import ActivationRequest, Lease

MAX_NAMES = 100
"""Variables that a worker names. A worker with more names looks for its jobs."""
DELIVERY_S = 1.0
"""The longest wait of a poll that ends, also because its client leaves, for the batch that commits its leases. The next
look takes back later ones, and a worker whose poll has ended asks again."""


class PollQueue:
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

    def remove(self, poller: Poller) -> bool:
        """Remove a poller, and wake the next one if necessary. Returns whether the queue has pollers."""
        was_first = self.first is poller
        del self.pollers[poller]
        if not self.pollers:
            return False
        if poller.woken or (was_first and self.due_at is None):
            self.first.wake()
        elif was_first:
            self.first.nudge()
        return True


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

    def __init__(self, queue: PollQueue, ask: ActivationRequest, pause_s: Callable[[], float], alone: bool) -> None:
        self._queue = queue
        self._sleep: trio.CancelScope | None = None
        self._nudged = False
        self._pause_s = pause_s
        self.ask = ask
        self.alone = alone
        """The only poller of its client. Several could get more jobs together from one batch than the client wants."""
        self.delivery: trio.MemoryReceiveChannel[list[Lease]] | None = None
        """Brings the leases that a batch has made for the poll, once. None: no batch is making any."""
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
        """The leases that a batch has delivered, which replace a look. Others hear of the jobs that it left."""
        self._receive()
        leases, self._leases = self._leases, []
        if leases:
            self.looking()
            self._note_lease()
        return leases

    def found(self, count: int, more: bool = False) -> None:
        """The looks gave `count` jobs. `more`: there may be more of them."""
        self._note_lease()
        self.woken |= more or count >= self.max_jobs  # then there may be more, for the next

    def _note_lease(self) -> None:
        now, due_at, lease_s = trio.current_time(), self._queue.due_at, self.ask.timeout_ms / 1000
        if due_at is not None:
            # A lease or backoff that was due may be one of the found jobs. The next due date is unknown then.
            self._queue.due_at = min(due_at, now + lease_s) if due_at > now else None

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
            with trio.move_on_after(DELIVERY_S):  # most batches end soon, but a commit may take seconds
                self._leases = await self.delivery.receive()
                self.delivery = None
        return self.woken or self._nudged

    @property
    def waiting(self) -> bool:
        """True while the task waits and would notice a wake-up."""
        return self._sleep is not None and not self._sleep.cancel_called

    @property
    def finds_nothing(self) -> bool:
        """True if a look would find no job: others wait, and whatever becomes available wakes one of them."""
        due_at = self._queue.due_at
        if due_at is None or due_at <= trio.current_time():
            return False
        return any(other.waiting and not other.woken and not other.served for other in self._queue.pollers)

    @property
    def served(self) -> bool:
        """True if a batch makes leases for the poll, or has made some that it will take: it leaves without a look."""
        return self.delivery is not None or bool(self._leases)

    def takes_new(self) -> bool:
        """True if the poll waits for the next job, and showing one costs the batch little."""
        few = len(self.ask.names or ()) <= MAX_NAMES
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
