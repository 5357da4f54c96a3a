"""The timer task when something is in its way: refused appends, a full flight, reads that are overtaken, followers."""

import pytest
import trio
import trio.testing

from tests.engine.whole_engine import START_MS, WholeEngine, waits
from tests.eventually import eventually
from vivero.engine.outcomes.admission import Draining, InDoubt, Overloaded
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.engine.timers.settings import TimerSettings
from vivero.engine.timers.task import AGAIN_MS, Timers
from vivero.storage.cluster import clock
from vivero.storage.log.command_log import Appended
from vivero.storage.postgres import driver
from vivero.storage.work import timers

HOUR = 3_600_000
TRIGGERS = "SELECT count(*) FROM command_log WHERE intent = 'TIMER:TRIGGER'"


@pytest.fixture
async def small(migrated, connection):
    """A window of 20 timers, 10 in flight, 5 in an append."""
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, TimerSettings(window=20, in_flight=10, batch=5))
    async with engine.running():
        await engine.deploy(waits("PT1H"))
        yield engine


def beat():
    return Beat(SupervisionSettings())


class Refusing:
    """An appender that refuses so often, and may have appended all the same."""

    def __init__(self, appender, *errors) -> None:
        self.appender = appender
        self.errors = list(errors)

    async def append_all(self, items, *, deadline_s):
        error = self.errors.pop(0) if self.errors else None
        if error is None or isinstance(error, InDoubt):
            appended = await self.appender.append_all(items, deadline_s=deadline_s)
        if error is not None:
            raise error
        return appended


@pytest.mark.parametrize("error", [Overloaded("full"), InDoubt("perhaps")])
async def test_triggers_that_were_not_or_perhaps_appended_come_again(small, error):
    small.timers._appender = Refusing(small.appender, error, error)
    await small.create(count=30)
    await small.set_clock(START_MS + HOUR)
    await small.until(lambda: len(small.ended) == 30)
    assert await small.value("SELECT count(*) FROM event_log WHERE events::text LIKE '%TimerTriggered%'") == 30


async def test_the_lateness_of_each_timer_is_counted_by_the_engines_clock(small):
    await small.create(count=12)
    await small.set_clock(START_MS + HOUR + 7_000)
    await small.until(lambda: len(small.ended) == 12)
    late = small.timers.stats.late_s
    await eventually(lambda: sum(late.counts), accept=lambda fired: fired >= 12)
    assert dict(zip((*late.bounds, "more"), late.counts, strict=True))[10.0] == sum(late.counts) == 12
    assert late.sum == pytest.approx(12 * 7)


async def test_a_program_that_stops_fires_no_more(small, migrated):
    small.timers_lead = lambda: False
    await small.create(count=3)
    await small.set_clock(START_MS + HOUR)
    timers_ = Timers(lambda: driver.connect(migrated), Refusing(small.appender, Draining("stopping")), small.settings)
    assert await timers_.run_once(small.connection, beat()) == small.settings.check_s
    assert await small.value(TRIGGERS) == timers_.stats.fired == 0


async def test_no_more_triggers_wait_in_the_log_than_may(small):
    """Nobody tells that they are processed: then the flight stays full."""
    tell, small.timers.committed = small.timers.committed, lambda _watermark: None
    await small.create(count=30)
    await small.set_clock(START_MS + HOUR)
    await small.until(lambda: len(small.ended) == 10)
    for _ in range(5):
        small.timers.clock_changed()
        await small.create()
    assert small.timers.stats.fired == 10
    small.timers.committed = tell
    await small.create()
    await small.until(lambda: len(small.ended) == 30)


async def test_what_commits_while_the_window_is_read_is_not_lost(small, migrated, monkeypatch):
    """The read saw the table before the commit, and the commit is told before the read has come back."""
    small.timers_lead = lambda: False
    timers_ = Timers(lambda: driver.connect(migrated), small.appender, small.settings)
    small.timers_changed = lambda _partition, changes: timers_.changed(changes)
    read = timers.nearest

    async def overtaken(connection, partition, limit):
        rows = await read(connection, partition, limit)
        if connection is small.connection:  # the other task of this partition reads now and then, too
            await small.create(count=2)
        return rows

    monkeypatch.setattr(timers, "nearest", overtaken)
    await timers_.run_once(small.connection, beat())
    assert timers_.stats.refills == 1
    assert len(timers_._memory.window) == 2


async def test_who_does_not_lead_the_partition_fires_nothing(small, migrated):
    small.timers_lead = lambda: False
    await small.create(count=5)
    await small.set_clock(START_MS + HOUR)
    leads = False
    follower = Timers(lambda: driver.connect(migrated), small.appender, small.settings, leads=lambda: leads)
    assert await follower.run_once(small.connection, beat()) == small.settings.check_s
    assert await small.value(TRIGGERS) == 0
    leads = True
    assert await follower.run_once(small.connection, beat()) == 0
    await small.until(lambda: len(small.ended) == 5)


async def test_what_nobody_told_of_is_found_by_the_periodic_check(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, TimerSettings(check_s=0.05))
    engine.timers.changed = lambda _changes: None
    async with engine.running():
        await engine.deploy(waits("PT0S"))
        await eventually(lambda: engine.timers.stats.refills)  # the first look of the term would find them otherwise
        await engine.create(count=3)
        await engine.until(lambda: len(engine.ended) == 3)
        assert engine.timers.stats.refills >= 2


async def test_the_timers_of_a_term_that_ended_are_read_again_by_the_next(small):
    await small.create(count=5)

    async def in_memory():  # the first look of the term may still be under way
        await trio.testing.wait_all_tasks_blocked()
        return len(small.timers._memory.window)

    await eventually(in_memory, accept=lambda number: number == 5, every_s=0)
    small.timers.term(99)
    assert len(small.timers._memory.window) == 0
    await small.set_clock(START_MS + HOUR)
    await small.until(lambda: len(small.ended) == 5)


async def test_a_trigger_that_came_too_early_is_not_forgotten_if_its_commit_is_reported_before_its_append(
    small, migrated
):
    """The clock was set back between the look at it and the batch; the appender waits for many positions in turn.

    The clock is pinned. The trigger comes again although no time passes by it: something may have held the timer.
    """
    small.timers_lead = lambda: False
    await small.create()
    ((key, due_at),) = await small.rows("SELECT timer_key, due_at_ms FROM timers")

    class Overtaken:
        async def append_all(self, items, *, deadline_s):
            timers_.committed(7)
            timers_.changed({key: (due_at, "<default>")})
            return [Appended(7, at_ms=START_MS)]

    timers_ = Timers(lambda: driver.connect(migrated), Overtaken(), small.settings)
    await small.set_clock(START_MS + HOUR)
    assert await timers_.run_once(small.connection, beat()) == 0
    assert timers_.stats.fired == 1
    assert timers_.stats.again == 1
    memory = timers_._memory
    assert list(memory.postponed) == [key]
    assert memory.postponed_s() <= 2 * AGAIN_MS / 1000
    await eventually(lambda: timers_.run_once(small.connection, beat()), accept=lambda _: timers_.stats.fired == 2)
    assert list(memory.postponed) == [key], "it waits longer now"
    timers_.changed({key: None})
    assert memory.postponed_s() > HOUR
