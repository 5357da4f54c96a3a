"""The long polls for jobs that wait: one queue for each job type and tenant.

A poll registers before it looks into the database, so that a job that becomes available in between wakes it. When jobs
become available, enough pollers wake to take them all, the longest waiting first. A poller that was woken and leaves
without a look wakes the next one. Only the first poller of a queue also looks when the type's next lease or backoff
ends, and from time to time without a reason: wake-ups are hints, and the table is the truth.

A poller that waits while a batch of this program creates jobs need not look: the batch saves the jobs with leases for
it (`engine.consumer.new_job_leases`). If an answer of the database is lost, jobs may be leased without a worker; the
next looks take them back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice
from uuid import UUID, uuid4

import trio

from vivero.api.activation.job_turns import JobTurns
from vivero.api.activation.pollers import Poller, PollQueue
from vivero.api.http.shared_budget import SharedBudget
from vivero.core.state.instance_tree import Job
from vivero.engine.consumer.new_job_leases import NewJobs, NewLease, Subject
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.outcomes.replies import tell
from vivero.storage.work import activation, new_jobs
from vivero.storage.work.activation import ActivationRequest, Lease
from vivero.storage.work.scan_bounds import ScanBounds

MAX_NEW_LEASES = 500
"""New jobs that are leased with one batch. Each takes about 15 us of the event loop."""
POLLS_PER_S = 100.0
"""The most looks without a wake-up per second, for all types together. With 1,000 types, each has one in 10 s."""
LOST_S = 30.0
"""After the first look that takes back a lost lease, looks repeat that for this time: the statement may be running."""
NEVER = float("inf")
MAX_LOST = 10_000
"""The most tokens of lost leases. Beyond it, the tokens of the types that have waited longest are forgotten."""


class PollLeases:
    """Leases of new jobs for a poll, an `engine.consumer.new_job_leases.NewJobLeases`.

    They reach the poll once, through a memory channel, when the batch has ended.
    """

    __slots__ = ("_bytes_left", "_polls", "_send", "_shown", "_spelled", "_until_ms", "leases", "poller", "token")

    def __init__(self, polls: LongPolls, poller: Poller, now_ms: int) -> None:
        """`now_ms`: the engine's time."""
        self.token = uuid4()
        self._spelled = str(self.token)
        self.poller = poller
        self.leases: list[NewLease] = []
        self._shown: list[Lease] = []
        self._polls = polls
        self._until_ms = now_ms + min(poller.ask.timeout_ms, activation.MAX_TIMEOUT_MS)
        self._bytes_left = activation.SMALL_BYTES
        self._send: trio.MemorySendChannel[list[Lease]] | None = None

    @property
    def subject(self) -> Subject:
        return self.poller.subject

    def add(self, job: Job) -> bool:
        """Lease a job, unless it cannot be shown from memory or is large. False: the poll takes no more."""
        ask, token = self.poller.ask, self._spelled
        if len(self.leases) >= activation.at_once(ask):
            return False
        shown = new_jobs.shown(job, ask.worker, self._until_ms, token if ask.with_token else None, ask.names)
        if shown is None or len(shown) > activation.SMALL_BYTES:
            return True
        if len(shown) > self._bytes_left:
            return False
        self._bytes_left -= len(shown)
        self.leases.append(NewLease(job.key, ask.worker, token, self._until_ms))
        self._shown.append(Lease(job.key, token, len(shown), shown))
        return True

    def open(self) -> None:
        """The leases go with the batch: let the poll wait for its end."""
        self._send, self.poller.delivery = trio.open_memory_channel[list[Lease]](1)

    def committed(self) -> bool:
        return self._settle(self._shown)

    def lost(self) -> None:
        self._polls.note_lost_lease(self.subject, self.token)
        self._settle([])

    def _settle(self, leases: list[Lease]) -> bool:
        """Send the leases. False: nobody takes them, because the poll has ended or its client is gone."""
        taken = self._send is not None and tell(self._send, leases)
        if leases and not taken:
            self._polls.note_lost_lease(self.subject, self.token)
        self.poller.wake()
        return taken and not self.poller.gone


class LongPolls:
    """All long polls for jobs of this program."""

    def __init__(
        self,
        max_pollers: int = 10_000,
        slow_poll_s: float = 2.0,
        answers_bytes: int = 64 * 1024 * 1024,
        turns: JobTurns | None = None,
    ) -> None:
        self._queues: dict[tuple[str, str], PollQueue] = {}
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
        self._lost_count = 0
        """The number of these tokens."""

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

    def register(self, ask: ActivationRequest, alone: bool = True) -> Registration:
        """A poller for the duration of a block. `alone`: its client has no other.

        Raises:
            Overloaded: there are too many polls, at the beginning of the block.
        """
        return Registration(self, ask, alone)

    def begin(self, ask: ActivationRequest, alone: bool) -> Poller:
        """A new poller, which `end` must end. Raises Overloaded."""
        if self._count >= self._max_pollers:
            raise Overloaded(f"{self._count} requests wait for jobs, which is the limit")
        subject = (ask.type, ask.tenant)
        queue = self._queues.setdefault(subject, PollQueue(self._closed))
        poller = Poller(queue, ask, self.pause_s, alone)
        queue.pollers[poller] = None
        self._count += 1
        return poller

    def end(self, poller: Poller) -> None:
        """The poll has ended."""
        self._count -= 1
        leases, subject = poller.close(), poller.subject
        if not self._queues[subject].remove(poller):
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
            if not poller.served:
                poller.wake()
                n -= poller.max_jobs

    def lease_new(self, jobs: NewJobs, now_ms: int) -> list[PollLeases]:
        """Lease new jobs to the polls that wait, the longest waiting first, up to a limit. Never waits.

        Jobs go by priority and age. A job that cannot be shown from memory stays for a look.
        """
        given: list[PollLeases] = []
        most = MAX_NEW_LEASES
        for subject, new in jobs.items():
            queue = self._queues.get(subject)
            # A poll takes a job at least, so no more polls than jobs are asked.
            waiting = [] if queue is None else list(islice(filter(Poller.takes_new, queue.pollers), len(new)))
            ordered = sorted(new, key=_by_priority_and_age, reverse=True)[-most:] if waiting and most else []
            most -= len(ordered)
            for poller in waiting:
                if not ordered:
                    break
                leases = PollLeases(self, poller, now_ms)
                while ordered and leases.add(ordered[-1]):
                    ordered.pop()
                if leases.leases:
                    given.append(leases)
        for leases in given:  # nothing fails from here on, or polls would wait for a batch that has no leases for them
            leases.open()
        return given

    def have_nothing_for(self, poller: Poller) -> bool:
        """True if a look of a new poll would find no job, and has no lost lease to take back."""
        return poller.subject not in self._lost and poller.finds_nothing

    def note_lost_lease(self, subject: Subject, token: UUID) -> None:
        """Remember a lease that may have no worker. The next look takes it back, and so do those within `LOST_S`."""
        self._lost[subject] = tokens = self._lost.pop(subject, {})
        self._lost_count += token not in tokens
        tokens[token] = NEVER
        while self._lost_count > MAX_LOST:
            self._lost_count -= len(self._lost.pop(next(iter(self._lost))))
        self.available(*subject, 1)

    def lost_leases(self, subject: Subject) -> list[UUID]:
        """The tokens of leases of the type that may have no worker."""
        if subject not in self._lost:
            return []
        now, tokens = trio.current_time(), self._lost.pop(subject)
        still = {token: until for token, until in tokens.items() if until > now}
        self._lost_count -= len(tokens) - len(still)
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


class Registration:
    """The block of a poller."""

    __slots__ = ("_alone", "_ask", "_poller", "_polls")

    def __init__(self, polls: LongPolls, ask: ActivationRequest, alone: bool) -> None:
        self._polls, self._ask, self._alone = polls, ask, alone

    def __enter__(self) -> Poller:
        self._poller = self._polls.begin(self._ask, self._alone)
        return self._poller

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._polls.end(self._poller)


def _by_priority_and_age(job: Job) -> tuple[int, int]:
    return -job.priority, job.key
