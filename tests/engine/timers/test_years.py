"""Ten years of timers under a clock that jumps, goes back, and restarts of everything at any moment."""

import os
import random
from itertools import islice, takewhile

import pytest
import trio

from tests.engine.whole_engine import START_MS, WholeEngine, starts, waits
from vivero.core.events.schedules import due_date_of, next_due
from vivero.core.rules import TIMER_RULES
from vivero.engine.timers.settings import TimerSettings
from vivero.storage.cluster import clock

DAY = 86_400_000
END_MS = START_MS + 3_652 * DAY
CYCLES = (
    "R/P1M",
    "R/PT1000H",
    "R9/2027-02-28T02:30:00[Europe/Berlin]/P1Y",
    "R/2020-02-29T12:00:00Z/P1Y",
    "0 0 9 1 * *",
    "0 0 0 L * ?",
    "0 30 4 ? * MON#1",
)
INSTANCES = int(os.environ.get("VIVERO_TIMERS") or 2_000)


def occurrences(text):
    """The due dates of a cycle that was deployed at the beginning, each fired in time."""
    due = due_date_of("cycle", text, START_MS, TIMER_RULES)
    while due is not None:
        yield due.at
        due = next_due(due, due.at, TIMER_RULES)


@pytest.mark.parametrize("text", CYCLES)
def test_each_cycle_goes_on(text):
    """The expectation of the long tests below can be computed."""
    first, second = islice(occurrences(text), 2)
    assert START_MS < first < second < END_MS


async def live_ten_years(dsn, connection, instances, steps, seed):
    random_ = random.Random(seed)
    await clock.pin(connection, START_MS)
    days = [random_.randrange(1, 3_600) for _ in range(20)]
    settings = TimerSettings(window=64, in_flight=40, batch=20)
    first = WholeEngine(dsn, settings)
    async with first.running():
        for number, text in enumerate(CYCLES):
            await first.deploy(starts(text, id=f"cycle{number}"))
        for number, day in enumerate(days):
            await first.deploy(waits(f"P{day}D", id=f"wait{number}"))
            await first.create(f"wait{number}", instances // len(days))
    expected = {f"cycle{n}": list(takewhile(lambda at: at <= END_MS, occurrences(t))) for n, t in enumerate(CYCLES)}
    moments = sorted(random_.randrange(START_MS, END_MS) for _ in range(steps))
    moments.insert(steps // 2 + 1, moments[steps // 2] - 3_600_000)
    for moment in moments:
        engine = WholeEngine(dsn, settings)
        async with engine.running():
            await engine.set_clock(moment)
            with trio.move_on_after(random_.uniform(0.05, 0.3)):
                await trio.sleep_forever()
    last = WholeEngine(dsn, settings)
    async with last.running():
        await last.set_clock(END_MS)
        left = "SELECT count(*) FROM timers WHERE state = 'PENDING' AND due_at_ms <= $1"
        await last.until_value(0, left, END_MS, within_s=300)
        # By key, not by `triggered_at`: what is still due when the clock goes back fires at an earlier hour than what
        # fired before. An occurrence of a cycle gets its key when the one before it fires.
        rows = await last.rows(
            "SELECT process_id, array_agg(due_at_ms ORDER BY timer_key), count(*),"
            " min(to_epoch_ms(triggered_at) - due_at_ms) FROM timers WHERE state = 'TRIGGERED' GROUP BY 1"
        )
        fired = {process: list(due) for process, due, _, _ in rows}
        assert min(early for *_, early in rows) >= 0
        for process, due in expected.items():
            assert fired.pop(process) == due, process
        assert {process: (set(due), len(due)) for process, due in fired.items()} == {
            f"wait{n}": ({START_MS + day * DAY}, instances // len(days)) for n, day in enumerate(days)
        }
        total = sum(map(len, expected.values())) + instances // len(days) * len(days)
        # A timer that fires in a full batch leaves its instance to a later one.
        await last.until_value(total, "SELECT count(*) FROM process_instances WHERE state = 'COMPLETED'")
        assert await last.value("SELECT count(*) FROM process_instances") == total
    return total


@pytest.mark.long
async def test_ten_years_with_restarts_and_a_clock_that_goes_back(migrated, connection, seed):
    assert await live_ten_years(migrated, connection, 100, 8, seed) > 500


@pytest.mark.long
async def test_ten_years_of_many_timers(migrated, connection, seed):
    total = await live_ten_years(migrated, connection, INSTANCES, 40, seed)
    print(f"{total} timers fired, each once")
