"""The level of each logger, before and after changes."""

import pytest

from vivero.logs.levels import Levels, parse


@pytest.fixture
def levels():
    made = Levels()
    made.begin("info", {"vivero.api": "warning", "vivero.api.http1": "debug"})
    return made


def thresholds(levels, *names):
    return [levels.logger(name, print).threshold for name in names]


def test_the_longest_beginning_of_the_name_counts(levels):
    assert thresholds(levels, "vivero.engine", "vivero.api", "vivero.api.app", "vivero.api.http1.x", "vivero.apis") == [
        *(20, 30, 30, 10, 20)
    ]


def test_libraries_are_quiet_unless_they_are_named(levels):
    assert thresholds(levels, "httpx") == [30]
    levels.change({"httpx": "debug"})
    assert thresholds(levels, "httpx", "httpx.sub", "other") == [10, 10, 30]
    levels.begin("error", {})
    assert thresholds(levels, "httpx", "vivero.x") == [40, 40]


def test_a_change_reaches_loggers_that_exist_and_ends(levels):
    logger = levels.logger("vivero.engine.jobs", print)
    assert levels.change({"vivero.engine": "debug"})
    assert not levels.change({"vivero.engine": "debug"})
    assert logger.threshold == 10
    levels.change({"vivero.engine.jobs": "error", "vivero.api": "error"})
    assert (logger.threshold, *thresholds(levels, "vivero.api")) == (40, 40)
    levels.change({})
    assert (logger.threshold, *thresholds(levels, "vivero.api")) == (20, 30)


def test_everything_is_for_our_loggers(levels):
    ours, theirs = levels.logger("vivero.api.app", print), levels.logger("httpx", print)
    levels.set_everything(True)
    assert (ours.threshold, theirs.threshold) == (10, 30)
    levels.set_everything(False)
    assert ours.threshold == 30


def test_levels_of_settings_are_read():
    assert parse(" vivero.api = debug, vivero.engine.jobs=error,") == {
        "vivero.api": "debug",
        "vivero.engine.jobs": "error",
    }
    assert parse("") == {}
    for wrong in ("vivero", "vivero=loud", "=debug", "a b=debug", "vivero..x=info"):
        with pytest.raises(ValueError, match="expected logger=level"):
            parse(wrong)
