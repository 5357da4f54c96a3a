"""Commands that wait are counted, not positions: a crash of PostgreSQL skips a million of them, or more."""

import pytest

from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.appender.log_lag import SKIPPED, LogLag
from vivero.engine.appender.settings import AppenderSettings

FAR = 40 * SKIPPED + 7


def lag(**settings):
    return LogLag(AppenderSettings(**settings))


@pytest.mark.parametrize("jump", [SKIPPED, SKIPPED + 1, FAR])
def test_a_jump_is_no_lag_of_the_engine_and_what_was_appended_since_is(jump):
    log, owner = lag(lag_commands=3), LogProgress(10, 0.0)
    log.appended(1, 10)
    log.appended(1, 10 + jump)
    assert log.refusal(1, owner, unprocessed=3) is None
    assert log.refusal(1, owner, unprocessed=4) == "the engine is 4 commands behind"


@pytest.mark.parametrize("jump", [SKIPPED, FAR])
def test_a_jump_is_no_backlog_without_an_engine_and_what_waits_is(jump):
    log = lag(backlog=3)
    log.appended(1, 10)
    log.counted(1, 9)
    log.appended(1, 10 + jump)
    assert log.refusal(1, None, unprocessed=0) is None
    log.appended(1, 11 + jump)
    assert log.refusal(1, None, unprocessed=0) == "3 commands wait for an engine to process them"


def test_what_waited_before_an_engine_led_does_not_wait_after_it():
    log = lag(backlog=3)
    log.appended(1, 10)
    log.counted(1, 9)
    log.appended(1, 20)
    log.led(1)
    assert log.refusal(1, None, unprocessed=0) is None
    log.counted(1, 17)
    assert log.refusal(1, None, unprocessed=0) == "3 commands wait for an engine to process them"


def test_a_lag_below_a_jump_is_counted_in_positions_of_all_nodes():
    log = lag(lag_commands=1_000)
    log.appended(1, SKIPPED - 1)
    assert log.refusal(1, LogProgress(0, 0.0), unprocessed=0) == f"the engine is {SKIPPED - 1} commands behind"


def test_an_older_position_changes_nothing():
    log = lag()
    log.appended(1, 5)
    log.appended(1, 4)
    assert (log.last(1), log.last(2), list(log)) == (5, None, [1])
    log.forget()
    assert (log.last(1), list(log)) == (None, [])
