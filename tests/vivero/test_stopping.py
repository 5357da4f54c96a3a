"""The time that a stop takes."""

import pytest
import trio

from vivero.engine.outcomes.completions import Completions
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.supervisor import Supervisor
from vivero.node.stopping import longest_s, stop_in_order
from vivero.storage.postgres.given_time import GivenTime, measured

GRACE_S = 10.0
NAMES = ("jobs", "connectors", "chores", "appender", "cluster")


async def no_connection():
    raise AssertionError("nothing is read")


class Stubborn:
    """A child that ends only when it is cancelled, and that says when."""

    def __init__(self, name, ends) -> None:
        self.child = Child(name, self.run)
        self._ends = ends

    async def run(self, beat):
        try:
            await beat.idle(trio.sleep_forever)
        finally:
            self._ends[self.child.name] = trio.current_time()


@pytest.mark.parametrize("serves", [True, False])
@pytest.mark.parametrize("withheld_s", [0.0, 100.0])
async def test_one_deadline_bounds_all_stages(autojump_clock, serves, withheld_s):
    """Also on a machine that gives the program little time: the clock counts, and each stage has a part of it."""
    ends, given = {}, GivenTime()
    names = ("api", *NAMES) if serves else NAMES
    supervisor = Supervisor([Stubborn(name, ends).child for name in names])

    async def withhold():
        for _ in range(100):
            await trio.sleep(0.5)
            given.woke(trio.current_time(), withheld_s)

    with measured(given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervisor.run)
            nursery.start_soon(withhold)
            await trio.sleep(0.1)
            began = trio.current_time()
            await stop_in_order(supervisor, Completions(no_connection), GRACE_S)
            took = trio.current_time() - began
            nursery.cancel_scope.cancel()
    assert took <= longest_s(GRACE_S, serves) + 0.1
    assert ends["jobs"] == ends["connectors"] == ends["chores"] < ends["appender"] < ends["cluster"]
    assert ends["cluster"] - ends["appender"] >= GRACE_S / 4 - 0.1
    if not serves and not withheld_s:
        assert ends["jobs"] - began >= GRACE_S - 0.1, "jobs have the whole grace where no request takes a part of it"
