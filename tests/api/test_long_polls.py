"""The long_polls of long polls: nobody is woken for nothing, and no wake-up is lost."""

import json
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import trio
import trio.testing

from tests.core.engine import Engine
from tests.core.models import end, process, task
from tests.core.models import start as start_event
from vivero.api.activation.long_polls import LOST_S, LongPolls
from vivero.api.activation.pollers import DELIVERY_S, wait_for_any
from vivero.engine.consumer.new_job_leases import NewLease
from vivero.engine.outcomes.admission import Overloaded
from vivero.node.http_server import identities_changed
from vivero.node.node_events import NodeEvents
from vivero.storage.access.identities import CHANNEL
from vivero.storage.work.activation import SMALL_BYTES, ActivationRequest

FOREVER = float("inf")


@pytest.fixture
def long_polls():
    return LongPolls(slow_poll_s=2.0)


class Poll:
    """A poller that waits in a task; `woken` is what its wait gave."""

    def __init__(self) -> None:
        self.woken = None
        self.leave = trio.Event()
        self.ended = trio.Event()

    async def run(self, long_polls, capacity, until, subject, due_in_s, lease_ms, task_status):
        with long_polls.register(ActivationRequest(subject[0], subject[1], capacity, lease_ms, "w")) as self.poller:
            self.poller.looking()
            if self.poller.is_first:
                self.poller.found_nothing(due_in_s)
            task_status.started()
            self.woken = await wait_for_any([self.poller], trio.current_time() + until)
            self.ended_at = trio.current_time()
            self.ended.set()
            await self.leave.wait()


@pytest.fixture
def start(nursery):
    """Starts polls in a certain order."""

    async def start(long_polls, capacity=1, until=FOREVER, subject=("t", "x"), due_in_s=None, lease_ms=60_000):
        poll = Poll()
        await nursery.start(poll.run, long_polls, capacity, until, subject, due_in_s, lease_ms)
        return poll

    return start


async def settle(*polls):
    await trio.testing.wait_all_tasks_blocked()
    return [poll.woken for poll in polls]


async def test_one_poller_is_woken_for_each_job(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls) for _ in range(3)]
    await settle()
    long_polls.available("t", "x", 1)
    assert await settle(*polls) == [True, None, None]
    long_polls.available("t", "x", 2)
    assert await settle(*polls) == [True, True, None]  # the first has not looked yet, and can take one
    nursery.cancel_scope.cancel()


async def test_a_poller_that_takes_many_is_enough_for_many(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls, capacity) for capacity in (10, 5, 5)]
    await settle()
    long_polls.available("t", "x", 11)
    assert await settle(*polls) == [True, True, None]
    nursery.cancel_scope.cancel()


async def test_waits_end_without_a_job_and_others_may_begin(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls), await start(long_polls, subject=("u", "y"))]
    await settle()
    long_polls.end_waits()
    assert await settle(*polls) == [False, False]
    later = await start(long_polls)
    assert await settle(later) == [None]
    nursery.cancel_scope.cancel()


async def test_one_client_waits_for_the_jobs_of_several_tenants(long_polls, nursery, mock_clock):
    """Any of its pollers wakes it, and none gets jobs from a batch, which would be too many together."""
    with ExitStack() as stack:
        asks = [ActivationRequest("t", tenant, 1, 60_000, "w") for tenant in "xyz"]
        pollers = [stack.enter_context(long_polls.register(ask, alone=False)) for ask in asks]
        for tenant in "zx":
            for poller in pollers:
                poller.looking()
            nursery.start_soon(make_available, long_polls, tenant)
            assert await wait_for_any(pollers, FOREVER)
            assert [poller.ask.tenant for poller in pollers if poller.woken] == [tenant]


async def make_available(long_polls, tenant):
    await trio.testing.wait_all_tasks_blocked()
    assert long_polls.lease_new(created(tenant=tenant), 0) == []
    long_polls.available("t", tenant, 1)


async def test_jobs_of_other_types_wake_nobody(long_polls, start, nursery, mock_clock):
    poll = await start(long_polls)
    await settle()
    long_polls.available("other", "x", 1)
    long_polls.available("t", "other", 1)
    assert await settle(poll) == [None]
    nursery.cancel_scope.cancel()


async def test_what_becomes_available_before_the_wait_is_not_missed(long_polls):
    with long_polls.register(ActivationRequest("t", "x", 1, 60_000, "w")) as poller:
        poller.looking()
        long_polls.available("t", "x", 1)
        poller.found_nothing(None)
        assert await wait_for_any([poller], FOREVER)


async def test_a_woken_poller_that_leaves_passes_it_on(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls), await start(long_polls)
    await settle()
    long_polls.available("t", "x", 1)
    assert await settle(first, second) == [True, None]
    first.leave.set()
    assert await settle(first, second) == [True, True]
    nursery.cancel_scope.cancel()


async def test_a_poller_that_found_all_it_can_take_wakes_the_next(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls, capacity=2), await start(long_polls)
    await settle()
    long_polls.available("t", "x", 2)
    await settle()
    first.poller.looking()
    first.poller.found(2)
    first.leave.set()
    assert await settle(second) == [True]
    nursery.cancel_scope.cancel()


async def test_a_poller_that_found_the_rest_wakes_nobody(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls, capacity=2), await start(long_polls)
    await settle()
    long_polls.available("t", "x", 1)
    await settle()
    first.poller.looking()
    first.poller.found(1)
    first.leave.set()
    assert await settle(second) == [None]
    assert second.poller.is_first
    nursery.cancel_scope.cancel()


async def test_the_first_looks_when_a_lease_ends(long_polls, start, nursery, autojump_clock):
    begun = trio.current_time()
    first, second = await start(long_polls, due_in_s=1.5), await start(long_polls)
    await first.ended.wait()
    assert (first.woken, first.ended_at - begun) == (True, pytest.approx(1.5))
    assert second.woken is None
    nursery.cancel_scope.cancel()


async def test_the_next_takes_over_the_timetable(long_polls, start, nursery, autojump_clock):
    begun = trio.current_time()
    first, second = await start(long_polls, capacity=2, due_in_s=1.5, lease_ms=250), await start(long_polls)
    first.poller.wake()
    await first.ended.wait()
    first.poller.looking()
    first.poller.found(1)  # which ends before all others
    first.leave.set()
    await second.ended.wait()
    assert second.ended_at - begun == pytest.approx(0.25)
    nursery.cancel_scope.cancel()


async def test_the_next_looks_when_the_timetable_is_used_up(long_polls, start, nursery, autojump_clock):
    first, second = await start(long_polls, capacity=2, due_in_s=1.5), await start(long_polls)
    await first.ended.wait()
    first.poller.looking()
    first.poller.found(1)
    first.leave.set()
    await second.ended.wait()
    assert second.ended_at == first.ended_at
    nursery.cancel_scope.cancel()


async def test_the_first_looks_now_and_then_by_itself(long_polls, start, nursery, autojump_clock):
    begun = trio.current_time()
    poll, other = await start(long_polls), await start(long_polls, until=60)
    await poll.ended.wait()
    assert (poll.woken, other.woken, poll.ended_at - begun) == (True, None, pytest.approx(2))
    nursery.cancel_scope.cancel()


async def test_the_time_may_be_over(long_polls, start, nursery, autojump_clock):
    begun = trio.current_time()
    first, second = await start(long_polls, until=1), await start(long_polls, until=0.5)
    await first.ended.wait()
    assert (first.woken, first.ended_at - begun) == (False, pytest.approx(1))
    assert (second.woken, second.ended_at - begun) == (False, pytest.approx(0.5))
    nursery.cancel_scope.cancel()


async def test_who_is_displaced_waits_no_longer(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls), await start(long_polls)
    first.poller.displace()
    assert await settle(first, second) == [False, None]
    assert mock_clock.current_time() == 0.0


async def test_everybody_looks_when_the_clock_was_changed(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls, subject=(name, "x")) for name in "aab"]
    await settle()
    long_polls.wake_all()
    assert await settle(*polls) == [True, True, True]
    nursery.cancel_scope.cancel()


async def test_the_board_is_bounded_and_forgets(start, mock_clock):
    long_polls = LongPolls(max_pollers=2)
    polls = [await start(long_polls), await start(long_polls, subject=("u", "x"))]
    await settle()
    with pytest.raises(Overloaded), long_polls.register(ActivationRequest("t", "x", 1, 60_000, "w")):
        pass
    assert len(long_polls) == 2
    for poll in polls:
        long_polls.wake_all()
        poll.leave.set()
    await settle()
    assert len(long_polls) == 0
    assert long_polls._queues == {}


async def test_nobody_waits_at_a_closed_board(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls), await start(long_polls), await start(long_polls, subject=("u", "x"))]
    long_polls.close()
    assert await settle(*polls) == [False, False, False]
    late = await start(long_polls, subject=("v", "x"))
    assert await settle(late) == [False]
    nursery.cancel_scope.cancel()


# New jobs of a batch


NOW_MS = 1_000


def created(*priorities, type="t", tenant="x", **variables):
    """The new jobs of a batch, with these priorities, by type and tenant."""
    engine = Engine()
    engine.deploy(process(start_event(), task("work", type=type, priority="=priority"), end(), "start > work > end"))
    for priority in priorities or (0,):
        engine.start(priority=priority, **variables)
    return {(type, tenant): list(engine.state.jobs.values())}


def keys_of(lease):
    return [one.job_key for one in lease.leases]


async def test_the_longest_waiting_of_each_type_get_new_jobs(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls, subject=(name, "x")) for name in "aab"]
    await settle()
    jobs = created(0, 0, 0, type="a") | created(type="b") | created(type="c")
    given = long_polls.lease_new(jobs, NOW_MS)
    assert [one.poller for one in given] == [poll.poller for poll in polls]
    assert [one.subject for one in given] == [("a", "x"), ("a", "x"), ("b", "x")]
    of_a = [job.key for job in jobs["a", "x"]]
    assert [keys_of(one) for one in given[:2]] == [of_a[:1], of_a[1:2]]
    assert long_polls.lease_new(jobs, NOW_MS) == [], "they wait for the end of the first batch"
    nursery.cancel_scope.cancel()


async def test_new_jobs_go_by_priority_and_age(long_polls, start, nursery, mock_clock):
    await start(long_polls, capacity=3, lease_ms=500)
    await settle()
    jobs = created(0, 7, -1, 7)
    first, second, _, fourth = (job.key for job in jobs["t", "x"])
    (given,) = long_polls.lease_new(jobs, NOW_MS)
    token = str(given.token)
    assert given.leases == [NewLease(key, "w", token, NOW_MS + 500) for key in (second, fourth, first)]
    nursery.cancel_scope.cancel()


async def test_a_batch_leases_a_limited_number_of_new_jobs(long_polls, start, nursery, mock_clock, monkeypatch):
    monkeypatch.setattr("vivero.api.activation.long_polls.MAX_NEW_LEASES", 3)
    for type in "ab":
        await start(long_polls, capacity=2, subject=(type, "x"))
    await settle()
    given = long_polls.lease_new(created(0, 0, type="a") | created(0, 0, type="b"), NOW_MS)
    assert [len(one.leases) for one in given] == [2, 1]
    nursery.cancel_scope.cancel()


async def test_leases_fit_into_the_memory_of_small_answers(long_polls, start, nursery, mock_clock):
    """The next poll gets the others. A job that is not small by itself is nobody's: it takes a look."""
    for _ in range(2):
        await start(long_polls, capacity=9)
    await settle()
    large, half = created(1, large="x" * 70_000), created(0, 0, 0, half="x" * 25_000)
    given = long_polls.lease_new({("t", "x"): large["t", "x"] + half["t", "x"]}, NOW_MS)
    assert [keys_of(one) for one in given] == [
        [job.key for job in half["t", "x"][at]] for at in (slice(2), slice(2, 3))
    ]
    nursery.cancel_scope.cancel()


async def test_a_job_with_large_headers_keeps_no_others_from_polls(long_polls, start, nursery, mock_clock, monkeypatch):
    """The job as a whole counts, and each job is shown a bounded number of times, however many polls wait."""
    for _ in range(20):
        await start(long_polls)
    await settle()
    asked = []

    def shown(job, *_more):
        asked.append(job.key)
        return b"x" * (SMALL_BYTES + (job is large))

    monkeypatch.setattr("vivero.storage.work.new_jobs.shown", shown)
    jobs = created(1, 0)
    large, small = jobs["t", "x"]
    assert [keys_of(one) for one in long_polls.lease_new(jobs, NOW_MS)] == [[small.key]]
    assert asked == [large.key, small.key]
    nursery.cancel_scope.cancel()


async def test_no_poll_waits_for_leases_that_could_not_be_made(long_polls, start, nursery, mock_clock, monkeypatch):
    polls = [await start(long_polls, subject=(type, "x")) for type in "ab"]
    await settle()

    def shown(job, *_more):
        return {"a": b"{}"}[job.type]

    monkeypatch.setattr("vivero.storage.work.new_jobs.shown", shown)
    with pytest.raises(KeyError):
        long_polls.lease_new(created(type="a") | created(type="b"), NOW_MS)
    assert [poll.poller.served for poll in polls] == [False, False]
    nursery.cancel_scope.cancel()


async def test_who_is_about_to_look_gets_no_new_job(long_polls, start, nursery, mock_clock):
    poll = await start(long_polls)
    await settle()
    long_polls.available("t", "x", 1)
    assert long_polls.lease_new(created(), NOW_MS) == []
    assert await settle(poll) == [True]
    nursery.cancel_scope.cancel()


async def test_a_poll_gets_new_jobs_when_their_batch_is_committed(long_polls, start, nursery, mock_clock):
    poll, other = await start(long_polls, capacity=2), await start(long_polls)
    await settle()
    (given,) = long_polls.lease_new(jobs := created(), NOW_MS)
    assert await settle(poll) == [None]
    assert given.committed()
    assert await settle(poll) == [True]
    (lease,) = poll.poller.take()
    assert (lease.job_key, lease.token) == (jobs["t", "x"][0].key, str(given.token))
    assert json.loads(lease.job)["jobKey"] == str(lease.job_key)
    assert poll.poller.take() == []
    poll.leave.set()
    assert await settle(other) == [None], "the batch left no job"
    nursery.cancel_scope.cancel()


async def test_a_job_that_comes_meanwhile_wakes_a_poll_that_gets_none(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls, capacity=9), await start(long_polls)
    await settle()
    (given,) = long_polls.lease_new(created(), NOW_MS)
    long_polls.available("t", "x", 1)
    assert await settle(first, second) == [None, True]
    given.committed()
    assert await settle(first) == [True]
    assert len(first.poller.take()) == 1
    nursery.cancel_scope.cancel()


async def test_a_new_poll_looks_unless_others_wait_and_nothing_is_due_or_lost(long_polls, start, nursery, mock_clock):
    with long_polls.register(ActivationRequest("t", "x", 1, 60_000, "w")) as only:
        assert not long_polls.have_nothing_for(only), "it may be the first"
    await start(long_polls, due_in_s=5)
    await settle()
    with long_polls.register(ActivationRequest("t", "x", 1, 60_000, "w")) as new:
        assert long_polls.have_nothing_for(new)
        mock_clock.jump(6)
        assert not long_polls.have_nothing_for(new), "a lease has ended"
    await start(long_polls, subject=("u", "x"))
    await settle()
    with long_polls.register(ActivationRequest("u", "x", 1, 60_000, "w")) as new:
        assert long_polls.have_nothing_for(new)
        long_polls.note_lost_lease(("u", "x"), uuid4())
        assert not long_polls.have_nothing_for(new)
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("end", ["its time is over", "the program stops", "another job wakes it"])
async def test_whoever_has_a_lease_waits_for_the_batch(long_polls, start, nursery, mock_clock, end):
    poll = await start(long_polls, until=1.0)
    await settle()
    (given,) = long_polls.lease_new(created(), NOW_MS)
    if end == "its time is over":
        mock_clock.jump(1.0)
    elif end == "the program stops":
        long_polls.close()
    else:
        long_polls.available("t", "x", 1)
    assert await settle(poll) == [None]
    given.committed()
    assert await settle(poll) == [True]
    assert len(poll.poller.take()) == 1
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("end", ["its time is over", "its client leaves"])
async def test_a_poll_does_not_wait_for_ever_for_a_batch_and_its_leases_are_taken_back(
    long_polls, start, nursery, autojump_clock, end
):
    poll = await start(long_polls, until=1.0)
    await settle()
    began = trio.current_time()
    (given,) = long_polls.lease_new(created(), NOW_MS)
    if end == "its client leaves":
        poll.poller.leave()
    with trio.fail_after(10 * DELIVERY_S):
        await poll.ended.wait()
    waits_s = 1.0 if end == "its time is over" else 0.0
    assert poll.ended_at - began == pytest.approx(waits_s + DELIVERY_S)
    assert poll.poller.take() == []
    poll.leave.set()
    await settle()
    assert not given.committed()
    assert long_polls.lost_leases(("t", "x")) == [given.token]
    nursery.cancel_scope.cancel()


async def test_a_poll_whose_batch_is_lost_looks(long_polls, start, nursery, mock_clock):
    """Activations take back the leases of a batch that may have been committed, as long as they may still come."""
    poll = await start(long_polls)
    await settle()
    (given,) = long_polls.lease_new(created(), NOW_MS)
    given.lost()
    assert await settle(poll) == [True]
    assert poll.poller.take() == []
    assert long_polls.lost_leases(("t", "x")) == [given.token] == long_polls.lost_leases(("t", "x"))
    assert long_polls.lost_leases(("u", "x")) == []
    mock_clock.jump(10 * LOST_S)
    assert long_polls.lost_leases(("t", "x")) == [given.token], "nobody has looked yet"
    long_polls.taken_back(("t", "x"), [given.token, uuid4()])
    mock_clock.jump(LOST_S / 2)
    long_polls.taken_back(("t", "x"), [given.token])
    assert long_polls.lost_leases(("t", "x")) == [given.token], "it may have been running when it was taken back"
    mock_clock.jump(LOST_S / 2)
    assert long_polls.lost_leases(("t", "x")) == []
    nursery.cancel_scope.cancel()


async def test_what_was_lost_is_bounded_although_nobody_looks(long_polls, monkeypatch):
    monkeypatch.setattr("vivero.api.activation.long_polls.MAX_LOST", 100)
    for number in range(100):
        long_polls.note_lost_lease((str(number), "x"), uuid4())
    long_polls.note_lost_lease(("0", "x"), uuid4())
    assert sum(map(len, long_polls._lost.values())) == 100
    assert long_polls.lost_leases(("1", "x")) == [], "nobody has asked for longest"
    assert len(long_polls.lost_leases(("0", "x"))) == 2


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_is_brought_to_somebody_who_has_left_is_taken_back(long_polls, start, nursery, mock_clock, when):
    first, second = await start(long_polls), await start(long_polls)
    await settle()
    (given,) = long_polls.lease_new(created(), NOW_MS)
    if when == "before":
        first.poller.leave()
    assert given.committed() is (when == "after")
    await settle()
    first.leave.set()
    assert await settle(second) == [True]
    assert long_polls.lost_leases(("t", "x")) == [given.token]
    nursery.cancel_scope.cancel()


async def test_a_job_that_comes_while_somebody_looks_is_looked_for_again(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls, capacity=9), await start(long_polls)
    first.poller.looking()
    long_polls.available("t", "x", 1)  # the look may have been too early for it
    first.poller.found(1)
    first.leave.set()
    assert await settle(first, second) == [True, True]
    nursery.cancel_scope.cancel()


async def test_whatever_did_not_fit_is_for_the_next(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls, capacity=9), await start(long_polls)
    first.poller.looking()
    first.poller.found(2, more=True)
    first.poller.nudge()
    first.leave.set()
    assert await settle(second) == [True]
    nursery.cancel_scope.cancel()


def test_many_types_are_looked_for_less_often():
    """By those who wait, by themselves: so that all together are no more looks a second than for two hundred."""
    long_polls = LongPolls(slow_poll_s=2.0)
    pauses = []
    with ExitStack() as stack:
        for number in range(1000):
            stack.enter_context(long_polls.register(ActivationRequest(f"t{number}", "x", 1, 60_000, "w")))
            pauses.append(long_polls.pause_s())
    assert (pauses[0], pauses[199], pauses[299], pauses[999]) == (2.0, 2.0, 3.0, 10.0)
    assert long_polls.pause_s() == 2.0


async def test_a_change_of_tenants_or_rights_ends_the_waits_of_those_who_may_have_lost_them(
    long_polls, start, nursery, mock_clock
):
    """With authentication. A worker asks again, and is then authenticated anew."""
    forgotten = []
    access: Any = SimpleNamespace(forget=lambda: forgotten.append(True))
    announcer: Any = SimpleNamespace(announce=None)
    poll = await start(long_polls)
    events = NodeEvents(announcer)
    events.channels.receive(CHANNEL, "")
    assert await settle(poll) == [None]
    events.channels.notified(CHANNEL, partial(identities_changed, access, long_polls))
    events.channels.receive(CHANNEL, "")
    assert await settle(poll) == [False]
    assert forgotten == [True]
    nursery.cancel_scope.cancel()
