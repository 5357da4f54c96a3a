"""A wake-up loses no call, and wakes its task once for many."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.supervision.wake_up import WakeUp

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
