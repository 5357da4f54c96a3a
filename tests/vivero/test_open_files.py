"""The limit of open files, which connections need."""

import resource

import pytest
import structlog

from vivero.program import program

INFINITY = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("limits", "raised", "warns"),
    [
        ((1024, 4096), [(1264, 4096)], False),
        ((1024, INFINITY), [(1264, INFINITY)], False),
        ((1024, 1100), [(1100, 1100)], True),
        ((1024, 1024), [], True),
        ((2000, 4096), [], False),
        ((INFINITY, INFINITY), [], False),
    ],
)
def test_the_limit_is_raised_as_far_as_it_may(monkeypatch, limits, raised, warns):
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, value: asked.append(value))
    with structlog.testing.capture_logs() as logs:
        program.allow_files(1264)
    assert (asked, bool(logs)) == (raised, warns)
