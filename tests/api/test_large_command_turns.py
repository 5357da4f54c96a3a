"""Commands with large bodies take turns, and the log rests between them, for others."""

import pytest
import trio
import trio.testing

from vivero.api.commands.large_command_turns import LARGE_COMMANDS_BYTES, MOST_REST_S, LargeCommandTurns
from vivero.api.http.problems import Problem
from vivero.api.http.request import ClientLeft, Request


async def spent(turns, clock, size, took_s):
    """The time at which a command of this size gets its turn; it then takes so long."""
    async with turns.turn(size, trio.current_time() + 60):
        began = trio.current_time()
        clock.jump(took_s)
    return began


def rejected(clock):
    """The problem of a command that was rejected after a while."""
    clock.jump(0.25)
    return Problem(404, "NOT_FOUND", "there is no such process")


@pytest.mark.parametrize(
    ("size", "took_s", "rest_s"),
    [
        pytest.param(LARGE_COMMANDS_BYTES, 0.25, 0.25, id="as-long-as-it-took"),
        pytest.param(4 * LARGE_COMMANDS_BYTES, 0.25, 0.25, id="larger-than-the-budget"),
        pytest.param(LARGE_COMMANDS_BYTES // 8, 0.25, 0.25 / 8, id="in-proportion"),
        pytest.param(LARGE_COMMANDS_BYTES, 30.0, MOST_REST_S, id="not-for-long"),
    ],
)
async def test_the_log_rests_after_a_large_command(autojump_clock, size, took_s, rest_s):
    turns = LargeCommandTurns()
    first = await spent(turns, autojump_clock, size, took_s)
    assert await spent(turns, autojump_clock, size, 0) - first == pytest.approx(took_s + rest_s)
    assert turns.budget.used == 0


async def test_it_rests_after_one_that_fails(autojump_clock):
    turns = LargeCommandTurns()
    with pytest.raises(Problem):
        async with turns.turn(LARGE_COMMANDS_BYTES, trio.current_time() + 60):
            raise rejected(autojump_clock)
    ended = trio.current_time()
    assert await spent(turns, autojump_clock, LARGE_COMMANDS_BYTES, 0) - ended == pytest.approx(0.25)


async def test_a_rest_ends_at_the_deadline_of_who_waits(autojump_clock):
    turns = LargeCommandTurns()
    await spent(turns, autojump_clock, LARGE_COMMANDS_BYTES, 0.25)
    with pytest.raises(Problem) as raised:
        async with turns.turn(LARGE_COMMANDS_BYTES, trio.current_time() + 0.125):
            raise AssertionError("it has no turn")
    assert (raised.value.status, raised.value.title) == (503, "RESOURCE_EXHAUSTED")
    assert turns.budget.used == 0


async def test_a_client_that_disconnects_during_a_rest_leaves_the_turn_at_once(autojump_clock):
    turns = LargeCommandTurns()
    await spent(turns, autojump_clock, LARGE_COMMANDS_BYTES, 0.25)
    began, left = trio.current_time(), trio.Event()

    async def receive():
        await left.wait()
        return {"type": "http.disconnect"}

    async def leave():
        await trio.testing.wait_all_tasks_blocked()
        left.set()

    request = Request("POST", "/", [], receive=receive)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave)
        with pytest.raises(ClientLeft):
            async with turns.turn(LARGE_COMMANDS_BYTES, began + 60, request.unless_left):
                raise AssertionError("it has no turn")
    assert trio.current_time() == began, "the rest goes on"
    assert turns.budget.used == 0


async def test_who_leaves_during_a_rest_leaves_the_turn_to_the_next(autojump_clock):
    turns = LargeCommandTurns()
    await spent(turns, autojump_clock, LARGE_COMMANDS_BYTES, 0.25)
    began = trio.current_time()
    with trio.move_on_after(0.125) as left:
        await spent(turns, autojump_clock, LARGE_COMMANDS_BYTES, 0)
    assert left.cancelled_caught
    assert await spent(turns, autojump_clock, LARGE_COMMANDS_BYTES, 0) - began == pytest.approx(0.25)
