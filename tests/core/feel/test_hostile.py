"""Hostile expressions: each ends after little work, with a value or a typed error.

An evaluation should take 50 ms at most on an ordinary machine. What it does in Python is counted, so that a busy one
changes nothing: half a million calls are about that. What one call does in C (patterns, numbers, texts) is not
in the count; for that there is a bound on processor time, so generous that only another order of growth breaks it.
"""

import contextlib
import cProfile
import gc
import resource
import time

import pytest

from tests.core.feel.hostile_expressions import hostile_expressions, hostile_texts
from vivero.core.feel import FeelError, compile_expression, compile_unary_tests, to_json

CALLS = 500_000
"""The greatest of today is 400,000."""
CPU_MS = 400
"""The greatest of today is 40."""


@pytest.fixture(autouse=True, scope="module")
def _others_garbage():
    """A measurement does not walk through what other tests have left in memory, which stays apart afterwards."""
    gc.collect()
    gc.freeze()


def _calls_of(run):
    """The number of calls of functions, those in C included, and the CPU that they take while they are counted."""
    with cProfile.Profile(subcalls=False) as profile:
        taken = _cpu_ms(run)
    return sum(function.callcount for function in profile.getstats()), taken


def _cpu_ms(run):
    start = time.thread_time_ns()
    run()
    return (time.thread_time_ns() - start) / 1e6


def _evaluate(text):
    with contextlib.suppress(FeelError):
        compile_expression(text).evaluate({"x": [1, 2, 3]}, 0)


def _evaluate_as_unary_tests(text):
    with contextlib.suppress(FeelError):
        compile_unary_tests(text).evaluate([1, 2, 3], {"x": [1, 2, 3]}, 0)


def _excess(evaluate, text):
    """The limit that an evaluation exceeds; None if it exceeds none. Counting only adds to what it takes."""
    calls, taken = _calls_of(lambda: evaluate(text))
    if taken >= CPU_MS:
        taken = _cpu_ms(lambda: evaluate(text))
    return None if calls < CALLS and taken < CPU_MS else (calls, taken, text[:200])


def _excesses(evaluate, texts):
    return [excess for text in texts if (excess := _excess(evaluate, text)) is not None]


def test_there_are_two_hundred_and_each_is_another():
    expressions = hostile_expressions()
    assert len(set(expressions)) == len(expressions) >= 200


@pytest.mark.long
def test_hostile_expressions_end_soon_and_take_little_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert _excesses(_evaluate, hostile_expressions()) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_hostile_unary_tests_end_soon():
    assert _excesses(_evaluate_as_unary_tests, hostile_texts()) == []


@pytest.mark.parametrize(
    "reading",
    [
        "number(x)",
        'number(x, ",", ".")',
        "date(x)",
        "time(x)",
        "date and time(x)",
        "duration(x)",
        "range(x)",
        "cycle(x)",
    ],
)
def test_long_texts_are_read_once(reading):
    """They come from variables, and nobody else is served while they are read."""
    expression = compile_expression(reading)

    def read(text):
        with contextlib.suppress(FeelError):
            expression.evaluate({"x": text}, 0)

    parts = ("9", "1.", "1,", "9e", "T", "P9", "[", "[1..", "@", "+10:00[", "2027-01-01T09:00:00")
    taken = {part: _cpu_ms(lambda part=part: read(part * (100_000 // len(part)) + "x")) for part in parts}
    assert max(taken.values()) < CPU_MS, taken


def test_values_that_stand_for_huge_texts_are_refused_soon():
    value = compile_expression("for i in 1..40 return [partial, partial]").evaluate({}).value

    def refused():
        with pytest.raises(FeelError, match="exceeds the limit of 4000000 characters"):
            to_json(value)

    assert _calls_of(refused)[0] < CALLS
    assert _cpu_ms(refused) < CPU_MS
