"""The probe in the loop. Its clocks are fakes, so that nothing here depends on the machine."""

import pytest
import trio
import trio.lowlevel

from vivero.engine.supervision import loop_probe
from vivero.engine.supervision.loop_probe import LONG_S, LoopProbe
from vivero.storage.postgres.given_time import GAP_S, GivenTime, given_time, withheld_s


class Clocks:
    """The wall's and the thread's clock, which move when a task says that it computes or waits."""

    def __init__(self, monkeypatch) -> None:
        self.wall = self.processor = 100.0
        monkeypatch.setattr(loop_probe, "perf_counter", lambda: self.wall)
        monkeypatch.setattr(loop_probe, "thread_time", lambda: self.processor)

    def compute(self, seconds):
        self.wall += seconds
        self.processor += seconds

    def lose(self, seconds):
        """Another program has the processor."""
        self.wall += seconds


@pytest.fixture
def clocks(monkeypatch):
    return Clocks(monkeypatch)


def run(probe, main):
    async def watched():
        with probe.watching():
            await main()

    trio.run(watched)


async def turns(clocks, *seconds):
    for one in seconds:
        await trio.lowlevel.checkpoint()
        clocks.compute(one)
    await trio.lowlevel.checkpoint()


def test_the_longest_turn_is_kept(clocks):
    probe = LoopProbe(tell=lambda _stretch: None)
    run(probe, lambda: turns(clocks, 0.002, 0.03, 0.007))
    assert probe.longest.seconds == pytest.approx(0.03, abs=loop_probe.SAMPLE_S)
    assert probe.long == 0
    counts = dict(zip((*probe.turn_s.bounds, "more"), probe.turn_s.counts, strict=True))
    assert {bound: count for bound, count in counts.items() if count} == {0.0025: 1, 0.01: 1, 0.05: 1}


def test_what_others_took_from_the_processor_does_not_count(clocks):
    probe = LoopProbe(tell=lambda _stretch: None)

    async def main():
        await trio.lowlevel.checkpoint()
        clocks.compute(0.01)
        clocks.lose(5)
        await trio.lowlevel.checkpoint()

    run(probe, main)
    assert probe.longest.seconds == pytest.approx(0.01, abs=loop_probe.SAMPLE_S)


@pytest.mark.parametrize("always", [True, False])
def test_the_task_is_named_at_once_or_after_a_first_long_turn(clocks, always):
    told = []
    probe = LoopProbe(names_always=always, tell=told.append)

    async def guilty():
        await turns(clocks, 2 * LONG_S)
        clocks.lose(60)
        await turns(clocks, 3 * LONG_S)

    async def main():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(guilty, name="guilty")
            nursery.start_soon(turns, clocks, 0.001, 0.001, 0.001)

    run(probe, main)
    assert [stretch.task for stretch in told] == ["guilty" if always else None, "guilty"]
    assert (probe.long, probe.longest.task) == (2, "guilty")


def test_it_is_told_seldom_and_names_are_looked_at_for_a_while(clocks, monkeypatch):
    monkeypatch.setattr(loop_probe, "NAMES_FOR_TURNS", 3)
    told = []
    probe = LoopProbe(tell=told.append)

    async def main():
        await turns(clocks, 1, 1, 1)
        assert probe.names_tasks
        await turns(clocks, 0.001, 0.001, 0.001, 0.001)
        assert not probe.names_tasks

    run(probe, main)
    assert len(told) == 1
    assert probe.long == 3
    probe.reset()
    assert (probe.long, probe.longest.seconds) == (0, 0)


def test_time_in_which_the_loop_could_not_run_is_withheld(clocks):
    """A turn that others interrupt, and a wait that ends late. The time that it computes or means to wait is given."""
    probe = LoopProbe(tell=lambda _stretch: None)

    async def main():
        await trio.lowlevel.checkpoint()
        began = given_time()
        clocks.compute(0.5)
        clocks.lose(3)
        await trio.lowlevel.checkpoint()
        assert given_time() - began == pytest.approx(0.5, abs=loop_probe.SAMPLE_S)
        probe.before_io_wait(0.1)
        clocks.lose(2.1)
        probe.after_io_wait(0.1)
        assert given_time() - began == pytest.approx(0.6, abs=loop_probe.SAMPLE_S)
        clocks.lose(7)
        assert given_time() - began == pytest.approx(0.6, abs=loop_probe.SAMPLE_S)  # this turn has not ended
        assert withheld_s() == pytest.approx(5, abs=loop_probe.SAMPLE_S)

    run(probe, main)


def test_moving_many_deadlines_is_no_gap(clocks):
    """Each of ten thousand connections has one. If their move counted, it would cause the next one, and so on."""

    class Many(GivenTime):
        def _withhold(self, seconds):
            super()._withhold(seconds)
            clocks.compute(3 * GAP_S)

    probe = LoopProbe(tell=lambda _stretch: None)
    probe.given = Many()

    async def main():
        await trio.lowlevel.checkpoint()
        clocks.lose(3)
        for _ in range(5):
            await trio.lowlevel.checkpoint()
        probe.before_io_wait(0.1)
        clocks.lose(2.1)
        probe.after_io_wait(0.1)
        for _ in range(5):
            await trio.lowlevel.checkpoint()
        assert withheld_s() == pytest.approx(5, abs=2 * loop_probe.SAMPLE_S)

    run(probe, main)


def test_short_gaps_and_early_ends_of_waits_are_ordinary(clocks):
    probe = LoopProbe(tell=lambda _stretch: None)

    async def main():
        for timeout, waited in ((1.0, 0.2), (0.0, GAP_S / 2), (0.1, 0.1 + GAP_S / 2)):
            probe.before_io_wait(timeout)
            clocks.lose(waited)
            probe.after_io_wait(timeout)
        assert withheld_s() == 0
        await trio.lowlevel.checkpoint()

    run(probe, main)
