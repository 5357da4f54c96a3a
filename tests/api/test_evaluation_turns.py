"""Expensive evaluations of decisions take turns; cheap ones do not wait."""

import pytest
import trio
import trio.testing

from vivero.api.commands.evaluation_turns import CHEAP_STEPS, MOST_REST_S, MOST_STEPS, REST, STEP_S, EvaluationTurns
from vivero.api.http.problems import Problem

COSTLY, CHEAP, NEW = ("t", "costly"), ("t", "cheap"), ("t", 7)


@pytest.fixture
def turns():
    made = EvaluationTurns()
    made.note(COSTLY, MOST_STEPS)
    made.note(CHEAP, CHEAP_STEPS)
    return made


async def test_a_second_expensive_one_waits_and_cheap_ones_do_not(turns, mock_clock):
    begun, ends = [], {name: trio.Event() for name in ("first", "second", "cheap", "new")}

    async def go(name, decision):
        async with turns.turn(decision, trio.current_time() + 60):
            begun.append(name)
            await ends[name].wait()

    async with trio.open_nursery() as nursery:
        for name, decision in (("first", COSTLY), ("second", COSTLY), ("cheap", CHEAP), ("new", NEW)):
            nursery.start_soon(go, name, decision)
            await trio.testing.wait_all_tasks_blocked()
        assert begun == ["first", "cheap"]
        for ended, next_one in (("first", "second"), ("second", "new")):
            ends[ended].set()
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(MOST_REST_S)
            await trio.testing.wait_all_tasks_blocked()
            assert begun[-1] == next_one
        ends["cheap"].set()
        ends["new"].set()
    assert turns.budget.used == 0


async def test_after_the_deadline_nothing_is_appended(turns, autojump_clock):
    async with turns.turn(COSTLY, trio.current_time() + 60):
        with pytest.raises(Problem) as raised:
            async with turns.turn(NEW, trio.current_time() + 1):
                raise AssertionError("it has no turn")
    assert (raised.value.status, raised.value.title) == (503, "RESOURCE_EXHAUSTED")
    async with turns.turn(COSTLY, trio.current_time() + 60):
        assert turns.budget.used == MOST_STEPS


async def test_nothing_rests_after_a_rejected_evaluation(turns, autojump_clock):
    began = trio.current_time()
    with pytest.raises(Problem):
        async with turns.turn(NEW, trio.current_time() + 60):
            raise Problem(404, "NOT_FOUND", "there is no such decision")
    async with turns.turn(COSTLY, began + 60):
        assert trio.current_time() == began


async def test_a_decision_that_was_expensive_once_is_forgiven_slowly(turns):
    for _ in range(100):
        turns.note(COSTLY, 1)
    async with turns.turn(COSTLY, trio.current_time() + 1):
        assert turns.budget.used == 0
    turns.note(COSTLY, 10 * MOST_STEPS)
    async with turns.turn(COSTLY, trio.current_time() + 1):
        assert turns.budget.used == MOST_STEPS


async def test_the_engine_rests_after_an_expensive_one(turns, mock_clock):
    mock_clock.autojump_threshold = 0
    async with turns.turn(COSTLY, trio.current_time() + 60):
        mock_clock.jump(0.2)
    began = trio.current_time()
    async with turns.turn(CHEAP, trio.current_time() + 60):
        assert trio.current_time() == began
    async with turns.turn(NEW, trio.current_time() + 60):
        assert trio.current_time() - began == pytest.approx(0.2 * REST)


async def test_nothing_rests_after_an_unknown_one_that_was_cheap(turns, mock_clock):
    mock_clock.autojump_threshold = 0
    async with turns.turn(NEW, trio.current_time() + 60):
        mock_clock.jump(0.2)
        turns.note(NEW, CHEAP_STEPS)
    began = trio.current_time()
    async with turns.turn(COSTLY, trio.current_time() + 60):
        assert trio.current_time() == began


async def test_a_rest_is_bounded_and_one_that_nobody_waits_for_has_its_time(turns, mock_clock):
    mock_clock.autojump_threshold = 0
    async with turns.turn(COSTLY, trio.current_time() + 60):
        mock_clock.jump(9)
    began = trio.current_time()
    async with turns.turn(COSTLY, trio.current_time() + 60):
        assert trio.current_time() - began == pytest.approx(MOST_REST_S)
    began = trio.current_time()
    async with turns.turn(COSTLY, trio.current_time() + 60):
        assert trio.current_time() - began == pytest.approx((1 + REST) * MOST_STEPS * STEP_S)
