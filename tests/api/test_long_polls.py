"""The long_polls of long polls: nobody is woken for nothing, and no wake-up is lost."""

from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import trio
import trio.testing

from vivero.api.activation.long_polls import LOST_S, MAX_LOST, MAX_PIGGYBACKED, LongPolls, wait_for_any
from vivero.engine.outcomes.admission import Overloaded
from vivero.node.http_server import identities_changed
from vivero.node.node_events import NodeEvents
from vivero.storage.access.identities import CHANNEL
from vivero.storage.postgres.results import QueryResult
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest, Lease
from vivero.storage.work.scan_bounds import OVERDUE_S, SLOW_LOOKS, WHOLE_EVERY_S

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
    assert long_polls.piggybacked({("t", tenant): 1}) == []
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


# On a batch


LEASE = (7, "0b8a4a3e-0000-4000-8000-000000000001", 2, b"{}")


def brings(*leases, large=False, slow=False):
    """The result of a plain statement."""
    rows = [(key, token, True, job) for key, token, _, job in leases]
    if large or slow:
        rows.append((None, None, not large, None))
    return QueryResult(rows, len(rows), "SELECT")


def brings_measured(*leases, unfit=(), priority=0, first_key=1, due_ms=0):
    """The result of a statement with bounds that measures jobs."""
    seen = (priority, first_key, due_ms, 0.0)
    rows = [(key, token, True, size, job, *seen) for key, token, size, job in leases]
    rows += [(key, None, False, size, None, *seen) for key, size in unfit]
    return QueryResult(rows, len(rows), "SELECT")


def make_slow(long_polls, subject=("t", "x")):
    """Let looks have bounds, as after several slow plain ones."""
    bounds = long_polls.bounds.of(subject, trio.current_time())
    for _ in range(SLOW_LOOKS):
        bounds.note_plain(trio.current_time(), large=False, slow=True)
    return bounds


async def test_the_longest_waiting_of_each_type_rides(long_polls, start, nursery, mock_clock):
    polls = [await start(long_polls, subject=(name, "x")) for name in "aab"]
    await settle()
    piggybacked = long_polls.piggybacked({("a", "x"): 2, ("b", "x"): 1, ("c", "x"): 1})
    assert [statement.poller for statement in piggybacked] == [polls[0].poller, polls[2].poller]
    assert [statement.subject for statement in piggybacked] == [("a", "x"), ("b", "x")]
    assert [statement.poller for statement in long_polls.piggybacked({("a", "x"): 1})] == [polls[1].poller]
    assert long_polls.piggybacked({("a", "x"): 1}) == []
    nursery.cancel_scope.cancel()


async def test_a_batch_carries_a_few(long_polls, start, nursery, mock_clock):
    for number in range(MAX_PIGGYBACKED + 1):
        await start(long_polls, subject=(str(number), "x"))
    await settle()
    assert (
        len(long_polls.piggybacked({(str(number), "x"): 1 for number in range(MAX_PIGGYBACKED + 1)})) == MAX_PIGGYBACKED
    )
    nursery.cancel_scope.cancel()


async def test_who_is_about_to_look_does_not_ride(long_polls, start, nursery, mock_clock):
    poll = await start(long_polls)
    await settle()
    long_polls.available("t", "x", 1)
    assert long_polls.piggybacked({("t", "x"): 1}) == []
    assert await settle(poll) == [True]
    nursery.cancel_scope.cancel()


async def test_a_piggybacked_poll_gets_its_jobs(long_polls, start, nursery, mock_clock):
    poll = await start(long_polls, capacity=2)
    await settle()
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    assert await settle(poll) == [None]
    assert statement.arrived(brings(LEASE))
    assert await settle(poll) == [True]
    assert poll.poller.take() == [Lease(*LEASE)]
    assert poll.poller.take() == []
    nursery.cancel_scope.cancel()


async def test_a_statement_is_plain_until_several_were_slow(long_polls, start, nursery, mock_clock):
    poll = await start(long_polls, capacity=2)
    for _ in range(SLOW_LOOKS):
        await settle()
        (statement,) = long_polls.piggybacked({("t", "x"): 1})
        assert statement.call[0] is activation.ACTIVATE_SMALL
        assert statement.arrived(brings(LEASE, slow=True))
        await settle()
        (_,) = poll.poller.take()
        poll.leave.set()
        poll = await start(long_polls, capacity=2)
    await settle()
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    assert statement.call[0] is activation.ACTIVATE
    nursery.cancel_scope.cancel()


async def test_the_next_statement_begins_where_the_last_saw_the_first_job(long_polls, start, nursery, mock_clock):
    poll = await start(long_polls, capacity=2)
    await settle()
    make_slow(long_polls)
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    assert statement.call[1][-5:] == (0, [2**31 - 1], [-(2**31)], [0], [2**63 - 1])
    statement.arrived(brings_measured(LEASE, priority=3, first_key=5, due_ms=1234))
    assert await settle(poll) == [True]
    (_,) = poll.poller.take()
    bounds = long_polls.bounds.of(("t", "x"), trio.current_time()).bounded()
    assert (bounds.due_ms, bounds.highest[1], bounds.lowest[1], bounds.keys) == (1234, 3, 3, (0, 5, 0))
    long_polls.wake_all()
    assert long_polls.bounds.of(("t", "x"), trio.current_time()).bounded().keys == (0,), "the clock was set"
    nursery.cancel_scope.cancel()


async def test_a_poller_queries_itself_when_a_look_without_bounds_is_overdue(start, nursery, mock_clock):
    long_polls = LongPolls(slow_poll_s=60.0)
    await start(long_polls)
    await settle()
    bounds = make_slow(long_polls)
    mock_clock.jump(WHOLE_EVERY_S + OVERDUE_S)
    assert long_polls.piggybacked({("t", "x"): 1}) == []
    bounds.start(trio.current_time())
    assert len(long_polls.piggybacked({("t", "x"): 1})) == 1
    nursery.cancel_scope.cancel()


async def test_a_piggybacked_poll_that_has_enough_leaves_some(long_polls, start, nursery, mock_clock):
    first, second = await start(long_polls), await start(long_polls)
    await settle()
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    assert not statement.arrived(brings(LEASE))
    await settle()
    first.poller.take()
    first.leave.set()
    assert await settle(second) == [True]  # somebody looks whether there is more
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("end", ["its time is over", "the program stops", "another job wakes it"])
async def test_whoever_rides_waits_for_the_batch(long_polls, start, nursery, mock_clock, end):
    poll = await start(long_polls, until=1.0)
    await settle()
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    if end == "its time is over":
        mock_clock.jump(1.0)
    elif end == "the program stops":
        long_polls.close()
    else:
        long_polls.available("t", "x", 1)
    assert await settle(poll) == [None]
    statement.arrived(brings(LEASE))
    assert await settle(poll) == [True]
    assert poll.poller.take() == [Lease(*LEASE)]
    nursery.cancel_scope.cancel()


async def test_a_piggybacked_poll_whose_batch_is_lost_queries_itself(long_polls, start, nursery, mock_clock):
    """Activations take back the leases of a batch that may have been committed, as long as they may still come."""
    poll = await start(long_polls)
    await settle()
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    statement.lost()
    assert await settle(poll) == [True]
    assert poll.poller.take() == []
    assert long_polls.lost_leases(("t", "x")) == [statement.token] == long_polls.lost_leases(("t", "x"))
    assert long_polls.lost_leases(("u", "x")) == []
    mock_clock.jump(10 * LOST_S)
    assert long_polls.lost_leases(("t", "x")) == [statement.token], "nobody has looked yet"
    long_polls.taken_back(("t", "x"), [statement.token, uuid4()])
    mock_clock.jump(LOST_S / 2)
    long_polls.taken_back(("t", "x"), [statement.token])
    assert long_polls.lost_leases(("t", "x")) == [statement.token], "it may have been running when it was taken back"
    mock_clock.jump(LOST_S / 2)
    assert long_polls.lost_leases(("t", "x")) == []
    nursery.cancel_scope.cancel()


async def test_what_was_lost_is_bounded_although_nobody_looks(long_polls):
    for number in range(MAX_LOST):
        long_polls.note_lost_lease((str(number), "x"), uuid4())
    long_polls.note_lost_lease(("0", "x"), uuid4())
    assert sum(map(len, long_polls._lost.values())) == MAX_LOST
    assert long_polls.lost_leases(("1", "x")) == [], "nobody has asked for longest"
    assert len(long_polls.lost_leases(("0", "x"))) == 2


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_is_brought_to_somebody_who_has_left_is_taken_back(long_polls, start, nursery, mock_clock, when):
    first, second = await start(long_polls), await start(long_polls)
    await settle()
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    if when == "before":
        first.poller.leave()
    assert not statement.arrived(brings((7, str(statement.token), 2, b"{}")))
    await settle()
    first.leave.set()
    assert await settle(second) == [True]
    assert long_polls.lost_leases(("t", "x")) == [statement.token]
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize("slow", [False, True])
async def test_a_piggybacked_poll_that_found_only_a_large_job_queries_itself(
    long_polls, start, nursery, mock_clock, slow
):
    """Outside of the batch. Meanwhile the batch tells others, too, of what it made."""
    poll = await start(long_polls, capacity=5)
    await settle()
    if slow:
        make_slow(long_polls)
    (statement,) = long_polls.piggybacked({("t", "x"): 1})
    assert not statement.arrived(brings_measured(unfit=[(7, 3_900_000)]) if slow else brings(large=True))
    assert not long_polls.bounds.of(("t", "x"), trio.current_time()).plain(trio.current_time())
    assert await settle(poll) == [True]
    assert poll.poller.take() == []
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
