"""Whether the machine is too slow, told from samples alone."""

import pytest
import structlog.testing

from vivero.engine.supervision.slowness import Slowness


def fed(slowness, begin_s, seconds, share, withheld_s=0.0):
    """Samples ten times a second, in which the machine withholds a share of the time. The sum afterwards."""
    for turn in range(1, round(seconds * 10) + 1):
        slowness.note(begin_s + turn / 10, withheld_s + share * turn / 10, 0.1 * (begin_s + turn / 10))
    return withheld_s + share * seconds


def test_it_is_told_when_the_program_gets_slow_each_minute_and_at_the_end():
    slowness = Slowness()
    with structlog.testing.capture_logs() as told:
        withheld_s = fed(slowness, 0, 30, 0.1)
        assert (slowness.slow, told) == (False, [])
        withheld_s = fed(slowness, 30, 90, 0.95, withheld_s)
        assert slowness.slow
        assert slowness.share == pytest.approx(0.95)
        fed(slowness, 120, 30, 0.0, withheld_s)
        assert not slowness.slow
    assert [(line["log_level"], line["withheld"] > 0.5) for line in told] == [
        ("warning", True),
        ("warning", True),
        ("info", False),
    ]
    assert told[0]["processor"] == pytest.approx(0.1)


def test_it_does_not_waver():
    slowness = Slowness()
    withheld_s = fed(slowness, 0, 20, 0.6)
    assert slowness.slow
    fed(slowness, 20, 20, 0.4, withheld_s)
    assert slowness.slow


def test_a_moment_says_nothing():
    slowness = Slowness()
    assert slowness.share == 0
    fed(slowness, 0, 1.5, 1.0)
    assert not slowness.slow
