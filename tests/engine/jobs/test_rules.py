"""Retries, schedules, durations, the tracker and definitions: everything without a database."""

from datetime import UTC, datetime

import pytest

from vivero.engine.jobs import durations, schedules
from vivero.engine.jobs.definitions import (
    JobRegistry,
    RescheduleAt,
    RescheduleIn,
    Runs,
    job,
    scheduled,
)
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.jobs.tracker import JobTracker, NextBatch, RunLimits
from vivero.storage.background.job_executions import Run


def ms(text):
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def test_backoff_doubles_from_five_seconds_to_an_hour():
    retry = RetrySettings()
    assert [retry.delay_s(attempt) for attempt in (0, 1, 2, 9, 10, 10_000)] == [5, 10, 20, 2560, 3600, 3600]
    assert [retry.is_last(attempt) for attempt in (3, 4, 5)] == [False, True, True]
    assert not RetrySettings(max_attempts=0).is_last(10**6)
    assert RetrySettings(multiplier=1e300).delay_s(999) == 3600


@pytest.mark.parametrize("bad", [{"max_attempts": -1}, {"multiplier": 0.5}, {"max_interval_s": 1}])
def test_impossible_retries_are_rejected(bad):
    with pytest.raises(ValueError, match=next(iter(bad)).removesuffix("_s")):
        RetrySettings(**bad)


def test_the_tracker_asks_for_what_has_a_place():
    """Above the minimum it waits a moment after its last pull, so that a pull takes several. Free places never stay."""
    tracker, types = JobTracker(RunLimits(2, 4)), ["work", "other"]
    assert tracker.next_batch(types, 0.0) == NextBatch(4, {"work": 4, "other": 4})
    tracker.dispatched(run("work", 0))
    assert tracker.next_batch(types, 0.01) == NextBatch(3, {"work": 3, "other": 3}), "below the minimum: at once"
    tracker.dispatched(run("work", 1))
    waiting = tracker.next_batch(types, 0.04)
    assert (waiting.most, waiting.types, round(waiting.delay_s, 3)) == (0, {}, 0.07)
    assert tracker.next_batch(types, 0.11) == NextBatch(2, {"work": 2, "other": 2}), "beside two long runs"
    tracker.dispatched(run("work", 2))
    tracker.dispatched(run("other", 3))
    assert tracker.next_batch(types, 9.0) == NextBatch(0, {}), "all places are taken"
    tracker.completed(run("work", 0))
    assert tracker.next_batch(types, 9.0) == NextBatch(1, {"work": 1, "other": 1})
    with pytest.raises(ValueError, match="min_concurrent"):
        RunLimits(5, 4)
    with pytest.raises(ValueError, match="batch_size"):
        RunLimits(1, 4, 0)


def run(type, number):
    return Run(f"{number}", type, 0, None, None, None, f"{type}-{number}", 0, 0, 0)


def test_a_type_has_limits_of_its_own():
    tracker = JobTracker(RunLimits(10, 10), {"slow": RunLimits(1, 3), "bulk": RunLimits(4, 8, batch_size=2)})
    types = ["slow", "bulk", "other"]
    assert tracker.next_batch(types, 0.0).types == {"slow": 3, "bulk": 2, "other": 10}
    for number in range(3):
        tracker.dispatched(run("slow", number))
    assert tracker.next_batch(types, 0.01) == NextBatch(7, {"bulk": 2, "other": 7})
    for number in range(2):
        tracker.completed(run("slow", number))
    early = tracker.next_batch(types, 0.02)
    assert early.types == {"bulk": 2, "other": 9}
    assert round(early.delay_s, 3) == 0.08, "one still runs, and the last pull of the type was a moment ago"
    assert tracker.next_batch(types, 0.1).types == {"slow": 2, "bulk": 2, "other": 9}
    for number in range(8):
        tracker.dispatched(run("other", number))
    assert tracker.next_batch(types, 0.3).types == {"slow": 1, "bulk": 1, "other": 1}


@pytest.mark.parametrize(("text", "seconds"), [("PT30S", 30), ("P1D", 86_400), ("PT0.25S", 0.25), ("P1W", 604_800)])
def test_durations(text, seconds):
    assert durations.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "P1M", "P1Y", "-PT1S", "soon", "P" + "9" * 400 + "D"])
def test_what_is_no_duration_is_told(text):
    with pytest.raises(ValueError, match="duration"):
        durations.seconds(text)


def test_a_cron_schedule_follows_the_clocks_of_its_zone():
    nightly = schedules.cron("30 2 * * *", "Europe/Madrid")
    assert nightly.after(ms("2026-03-27T12:00+00:00")) == ms("2026-03-28T01:30+00:00")
    assert nightly.after(ms("2026-03-28T12:00+00:00")) == ms("2026-03-29T01:30+00:00"), "in the gap: an hour later"
    autumn = nightly.after(ms("2026-10-24T12:00+00:00"))
    assert autumn == ms("2026-10-25T00:30+00:00"), "in the overlap: the first of the two"
    assert nightly.after(autumn) == ms("2026-10-26T01:30+00:00"), "and only the first"


def test_periods_are_the_same_for_all_nodes():
    assert schedules.every("PT5M").after(ms("2026-01-01T10:02+00:00")) == ms("2026-01-01T10:05+00:00")
    assert schedules.every("PT5M").after(ms("2026-01-01T10:05+00:00")) == ms("2026-01-01T10:10+00:00")


@pytest.mark.parametrize(
    "bad", [{}, {"cron": "* * * * *", "every": "PT1S"}, {"cron": "61 * * * *"}, {"cron": "0 0 30 2 *"},
            {"cron": "0 3 * * *", "timezone": "Mars/Olympus"}, {"every": "PT0S"}, {"every": "often"}],
)  # fmt: skip
def test_impossible_schedules_are_rejected_where_they_are_defined(bad):
    with pytest.raises(ValueError, match=r"\w{3}"):
        scheduled("report", **bad)(print)


def test_functions_run_where_they_belong():
    async def waits(_execution): ...
    def computes(_execution): ...

    assert job("a")(waits).runs is Runs.TRIO
    assert job("a", runs="asyncio")(waits).runs is Runs.ASYNCIO
    assert job("a")(computes).runs is Runs.THREAD
    for runs, handler in (("thread", waits), ("trio", computes), ("asyncio", computes)):
        with pytest.raises(ValueError, match="cannot run in"):
            job("a", runs=runs)(handler)
    with pytest.raises(ValueError, match="timeout"):
        job("a", timeout="PT1S")(computes)
    for name in ("", "x" * 201, "a\nb"):
        with pytest.raises(ValueError, match="name"):
            job(name)(computes)


def test_two_jobs_of_one_name_are_rejected():
    with pytest.raises(ValueError, match="two jobs with the name 'a'"):
        JobRegistry.of([job("a")(print), job("a")(repr)])


def test_results_say_when():
    assert RescheduleIn("PT5M").due_ms(1000) == 301_000
    assert RescheduleIn(1.5).due_ms(0) == 1500
    assert RescheduleAt(datetime(2026, 1, 1, tzinfo=UTC)).due_ms(0) == ms("2026-01-01T00:00+00:00")
    with pytest.raises(ValueError, match="zone"):
        RescheduleAt(datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="negative"):
        RescheduleIn(-1)


@pytest.mark.parametrize(
    "bad", [{"min_concurrent": 0}, {"min_concurrent": 11}, {"poll_interval": "PT0S"}, {"stale_threshold": "PT1S"},
            {"drain": "later"}, {"multiplier": 0.0}],
)  # fmt: skip
def test_impossible_settings_are_rejected(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}|duration"):
        JobSettings(**bad)
