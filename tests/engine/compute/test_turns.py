"""Turns: few places, a bounded queue, kinds that take turns, and the engine first."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.engine.compute.problems import Busy
from vivero.engine.compute.turns import Turns, WorkKind


class Order:
    """Takes turns, and notes in which order."""

    def __init__(self, turns, nursery) -> None:
        self.turns, self.nursery, self.taken = turns, nursery, []

    async def wait(self, *kinds):
        for kind in kinds:
            self.nursery.start_soon(self._take, kind)
            await wait_all_tasks_blocked()

    async def _take(self, kind):
        await self.turns.take(kind)
        self.taken.append(kind)

    async def give(self, times=1):
        for _ in range(times):
            self.turns.give()
            await wait_all_tasks_blocked()


async def test_kinds_take_turns_however_many_of_one_wait(nursery):
    order = Order(Turns(1, 100), nursery)
    await order.wait(*[WorkKind.EXPRESSIONS] * 4, WorkKind.DEPLOYMENTS, WorkKind.BODIES)
    await order.give(5)
    assert order.taken == [
        *[WorkKind.EXPRESSIONS, WorkKind.EXPRESSIONS, WorkKind.DEPLOYMENTS, WorkKind.BODIES],
        *[WorkKind.EXPRESSIONS] * 2,
    ]  # fmt: skip


async def test_the_engine_has_a_place_that_no_client_gets(nursery):
    order = Order(Turns(1, 100), nursery)
    await order.wait(WorkKind.DEPLOYMENTS, WorkKind.DEPLOYMENTS, WorkKind.ENGINE, WorkKind.ENGINE)
    assert order.taken == [WorkKind.DEPLOYMENTS, WorkKind.ENGINE]
    await order.give()
    assert order.taken[2:] == [WorkKind.ENGINE]
    await order.give()  # one place is the engine's: the other is free again
    assert order.taken[2:] == [WorkKind.ENGINE]
    await order.give()
    assert order.taken[3:] == [WorkKind.DEPLOYMENTS]


async def test_the_queue_is_bounded_but_not_for_the_engine(nursery):
    turns = Turns(1, 2)
    order = Order(turns, nursery)
    await order.wait(*[WorkKind.BODIES] * 3, WorkKind.ENGINE, WorkKind.ENGINE)
    with pytest.raises(Busy, match="3 tasks wait"):
        await turns.take(WorkKind.EXPRESSIONS)
    assert (turns.taken, turns.waiting) == (2, 3)


async def test_a_place_is_not_lost_with_a_task_that_is_cancelled_while_it_waits(nursery):
    turns = Turns(1, 100)
    order = Order(turns, nursery)
    await order.wait(WorkKind.BODIES)
    with trio.CancelScope() as scope:
        scope.cancel()
        await turns.take(WorkKind.BODIES)
    assert scope.cancelled_caught
    await order.give()
    assert (turns.taken, turns.waiting) == (0, 0)
