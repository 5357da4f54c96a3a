"""The budget for large answers: never more than there is, first come, first served, nothing forgotten."""

import random

import pytest
import trio
import trio.testing

from vivero.api.http.shared_budget import SharedBudget


@pytest.fixture
def budget():
    return SharedBudget(100)


def test_as_much_is_taken_as_there_is(budget):
    with budget.share() as first, budget.share() as second:
        assert (first.take(70), second.take(70), second.take(1)) == (70, 30, 0)
        assert budget.used == 100
        first.shrink(50)
        assert (first.size, second.take(70)) == (50, 20)
    assert budget.used == 0


def test_taking_nothing_or_less_takes_nothing(budget):
    with budget.share() as share:
        assert (share.take(0), share.take(-5), share.size) == (0, 0, 0)


def test_keeping_more_than_one_has_takes_nothing(budget):
    with budget.share() as share:
        share.take(10)
        share.shrink(80)
        assert (share.size, budget.used) == (10, 10)


async def wait(budget, size, served, name, leave):
    with budget.share() as share:
        await share.wait(size)
        assert share.size == size
        served.append(name)
        await leave.wait()


async def test_the_first_is_served_first_and_nobody_takes_before(budget, nursery):
    served, leave, holder = [], trio.Event(), budget.share()
    share = holder.__enter__()
    share.take(60)
    nursery.start_soon(wait, budget, 80, served, "large", leave)
    await trio.testing.wait_all_tasks_blocked()
    nursery.start_soon(wait, budget, 10, served, "small", leave)
    await trio.testing.wait_all_tasks_blocked()
    with budget.share() as late:
        assert (served, late.take(5)) == ([], 0)
    holder.__exit__(None, None, None)
    await trio.testing.wait_all_tasks_blocked()
    assert (sorted(served), budget.used) == (["large", "small"], 90)  # both fit now: who runs first is Trio's choice
    leave.set()
    await trio.testing.wait_all_tasks_blocked()
    assert budget.used == 0


async def test_whoever_gives_up_lets_the_next_in(budget, nursery):
    served, leave = [], trio.Event()
    with budget.share() as share:
        share.take(60)
        with trio.CancelScope() as scope:
            nursery.start_soon(wait, budget, 30, served, "behind", leave)
            scope.cancel()
            with budget.share() as gone:
                await gone.wait(90)
        await trio.testing.wait_all_tasks_blocked()
        assert served == ["behind"]
    leave.set()


async def test_room_that_is_there_is_given_without_waiting(budget):
    """Also to somebody whose time is over."""
    with trio.CancelScope() as scope, budget.share() as share:
        scope.cancel()
        await share.wait(100)
        assert share.size == 100


async def test_a_wait_gives_back_first_what_it_had(budget):
    with budget.share() as share:
        share.take(60)
        await share.wait(100)
        assert budget.used == 100


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_happens_all_is_given_back(budget, seed, autojump_clock):
    chance = random.Random(seed)

    async def one():
        with trio.move_on_after(chance.uniform(0, 5)), budget.share() as share:
            share.take(chance.randrange(0, 120))
            await trio.sleep(chance.uniform(0, 1))
            await share.wait(chance.randrange(1, 101))
            assert budget.used <= budget.limit
            await trio.sleep(chance.uniform(0, 1))

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(one)
    assert (budget.used, list(budget._waiting)) == (0, [])
