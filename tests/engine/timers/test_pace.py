"""The number of overdue timers in flight, beside an engine of known speed."""

import pytest

from vivero.engine.timers.pace import FIRST, LEAST, TriggerPace

DELAY_S = 0.1


def worked_off(pace, per_second, rounds=40, others=0):
    """A flight is appended, waits behind the commands of others, and is processed as a whole, again and again."""
    for _ in range(rounds):
        pace.processed((pace.allowed + others) / per_second, full=True)
    return (pace.allowed + others) / per_second


@pytest.mark.parametrize("per_second", [150, 500, 1_000, 2_500, 3_900])
def test_a_flight_takes_as_long_as_commands_may_wait(per_second):
    pace = TriggerPace(400, DELAY_S)
    assert 0.7 * DELAY_S <= worked_off(pace, per_second) <= 1.3 * DELAY_S


def test_it_follows_an_engine_that_gets_slower_and_faster():
    pace = TriggerPace(400, DELAY_S)
    for per_second in (3_000, 300, 3_000, 1_000):
        assert 0.7 * DELAY_S <= worked_off(pace, per_second) <= 1.3 * DELAY_S


def test_it_has_bounds():
    pace = TriggerPace(400, DELAY_S)
    assert pace.allowed == FIRST
    worked_off(pace, 100_000)
    assert pace.allowed == 400
    worked_off(pace, 1)
    assert pace.allowed == LEAST
    assert TriggerPace(5, DELAY_S).allowed == 5


def test_behind_a_busy_log_the_least_goes_on():
    pace = TriggerPace(400, DELAY_S)
    worked_off(pace, 1_000, others=500)
    assert pace.allowed == LEAST


def test_few_due_timers_say_nothing_about_many():
    pace = TriggerPace(400, DELAY_S)
    for _ in range(100):
        pace.processed(0.001, full=False)
    assert pace.allowed == FIRST


def test_one_long_wait_halves_the_flight_at_most():
    pace = TriggerPace(400, DELAY_S)
    worked_off(pace, 100_000)
    pace.processed(60.0, full=True)
    assert pace.allowed == 200
