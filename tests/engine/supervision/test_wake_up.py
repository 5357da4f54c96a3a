"""A wake-up loses no call, and wakes its task once for many."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.wake_up import WakeUp
from vivero.storage.postgres.ticks import TICK_S, next_tick, tick_in

SETTINGS = SupervisionSettings(idle_beat_s=1.0)


@pytest.fixture
async def beat():
    return Beat(SETTINGS)


class Turns:
    """A task that counts how often it is woken."""

    def __init__(self, wake_up) -> None:
        self.count = 0
        self._wake_up = wake_up

    async def run(self):
        while True:
            await self._wake_up.wait()
            self.count += 1


async def test_a_call_before_the_wait_ends_it_at_once(beat, autojump_clock):
    wake_up = WakeUp()
    wake_up.set()
    began = trio.current_time()
    assert await wake_up.idle(beat, began + 60)
    assert trio.current_time() == began
    assert not await wake_up.idle(beat, began + 60), "the call is used up"
    assert trio.current_time() == began + 60


async def test_a_call_before_the_wait_costs_no_turn_of_the_loop(beat, nursery):
    """The others have their turns when the task waits for something."""
    wake_up, others = WakeUp(), []

    async def other():
        others.append(True)

    wake_up.set()
    nursery.start_soon(other)
    assert await wake_up.idle(beat, trio.current_time() + 60)
    assert not others
    assert beat.alive


async def test_many_calls_wake_once(nursery):
    wake_up = WakeUp()
    turns = Turns(wake_up)
    nursery.start_soon(turns.run)
    await wait_all_tasks_blocked()
    for expected in (1, 2):
        for _ in range(100):
            wake_up.set()
        await wait_all_tasks_blocked()
        assert turns.count == expected


async def test_a_call_during_a_turn_leads_to_another(nursery):
    wake_up = WakeUp()
    turns = Turns(wake_up)
    wake_up.set()
    await wake_up.wait()
    wake_up.set()  # while the task does what the first call asked for
    nursery.start_soon(turns.run)
    await wait_all_tasks_blocked()
    assert turns.count == 1


async def test_what_is_cleared_wakes_nobody(beat, autojump_clock):
    wake_up = WakeUp()
    wake_up.set()
    wake_up.clear()
    assert not await wake_up.idle(beat, trio.current_time() + 5)


async def test_a_time_that_is_over_still_tells_of_a_call(beat, autojump_clock):
    wake_up = WakeUp()
    wake_up.set()
    assert await wake_up.idle(beat, trio.current_time() - 1)
    assert not await wake_up.idle(beat, trio.current_time() - 1)


async def test_a_call_at_the_end_of_the_time_is_not_lost(beat, nursery, autojump_clock):
    wake_up, end = WakeUp(), trio.current_time() + 5

    async def set_at_the_end():
        await trio.sleep_until(end)
        wake_up.set()

    nursery.start_soon(set_at_the_end)
    assert await wake_up.idle(beat, end) or await wake_up.idle(beat, end + 5)


async def test_a_cancelled_wait_loses_nothing(beat):
    wake_up = WakeUp()
    wake_up.set()
    with trio.CancelScope() as scope:
        scope.cancel()
        await wake_up.wait()
    assert scope.cancelled_caught
    with trio.CancelScope() as scope:
        scope.cancel()
        await wake_up.idle(beat)
    assert await wake_up.idle(beat, trio.current_time())


async def test_it_beats_while_it_waits(beat, nursery, autojump_clock):
    wake_up, beats = WakeUp(), []

    class Counting(Beat):
        def beat(self):
            beats.append(trio.current_time())
            super().beat()

    began = trio.current_time()
    assert not await wake_up.idle(Counting(SETTINGS), began + 3.5)
    assert beats == [began, began + 1, began + 2, began + 3]


async def test_idle_tasks_beat_in_the_same_turns_of_the_loop(autojump_clock):
    """Whenever they begin to wait: a turn costs more than a beat."""
    turns = set()

    async def idle():
        async def wait():
            turns.add(trio.current_time())
            await trio.sleep_forever()

        await Beat(SETTINGS).idle(wait)

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(idle)
            await trio.sleep(0.03 * number)
        turns.clear()
        await trio.sleep(5)
        nursery.cancel_scope.cancel()
    assert len(turns) == 5


@pytest.mark.parametrize("now", [0.0, 0.1, 0.3, 0.7, 1e6 + 0.1, 3.0000000000000004])
async def test_the_next_tick_is_later_and_at_most_one_interval_away(autojump_clock, now):
    autojump_clock.jump(now)
    for every in (0.1, 0.25, 0.2, 1.0):
        tick = next_tick(every)
        assert trio.current_time() < tick <= trio.current_time() + every * 1.0001


@pytest.mark.parametrize("now", [0.0, 0.1, 0.13, 0.7, 1e6 + 0.1, 3.0000000000000004])
@pytest.mark.parametrize("seconds", [0.5, 1.0, 60.0])
async def test_looks_of_idle_tasks_fall_on_shared_moments(autojump_clock, now, seconds):
    """Near the time that was asked for, also of a task that wakes a little after such a moment."""
    autojump_clock.jump(now)
    at = tick_in(seconds)
    assert at % TICK_S == 0
    assert abs(at - trio.current_time() - seconds) <= TICK_S / 2


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.3, float("inf")])
async def test_short_and_endless_waits_stay_exact(autojump_clock, seconds):
    autojump_clock.jump(0.1)
    assert tick_in(seconds) == trio.current_time() + seconds


def test_the_checks_of_beats_share_the_turns_of_the_beats():
    settings = SupervisionSettings()
    assert settings.idle_beat_s == TICK_S
    assert settings.idle_beat_s % settings.check_every_s == 0


@pytest.mark.parametrize("every", ["idle_beat_s", "check_every_s"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_an_interval_without_a_length_is_refused(every, value):
    """It would be a division by zero in each child, or a loop without a pause."""
    with pytest.raises(ValueError, match=f"{every} must be greater than 0"):
        SupervisionSettings(**{every: value})
