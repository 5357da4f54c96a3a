"""Hostile expressions: each ends within 50 ms, with a value or a typed error."""

import contextlib
import resource
import time

import pytest
from feel_hostile import hostile_expressions, hostile_texts

from engine.feel import FeelError, compile_expression, compile_unary_tests, to_json

BOUND_MS = 50
REFERENCE_MS = 5.0  # what `_reference` takes on the machine for which the bound was set


def _reference():
    total = 0
    for number in range(100_000):
        total += number
    return total


def _cpu_ms(run):
    start = time.process_time_ns()
    run()
    return (time.process_time_ns() - start) / 1e6


def _slowness():
    """How much slower than the reference this machine is right now, at least 1."""
    return max(1.0, min(_cpu_ms(_reference) for _ in range(3)) / REFERENCE_MS)


def _evaluate(text):
    with contextlib.suppress(FeelError):
        compile_expression(text).evaluate({"x": [1, 2, 3]}, 0)


def _evaluate_as_unary_tests(text):
    with contextlib.suppress(FeelError):
        compile_unary_tests(text).evaluate([1, 2, 3], {"x": [1, 2, 3]}, 0)


def _is_soon(evaluate, text):
    """Whether it ends in time; an attempt that something else on the machine slowed down is repeated."""
    for _ in range(4):
        taken = _cpu_ms(lambda: evaluate(text))
        if taken < BOUND_MS or taken < BOUND_MS * _slowness():
            return True
    return False


def test_there_are_two_hundred_and_each_is_another():
    expressions = hostile_expressions()
    assert len(set(expressions)) == len(expressions) >= 200


def test_hostile_expressions_end_soon_and_take_little_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    late = [text[:200] for text in hostile_expressions() if not _is_soon(_evaluate, text)]
    assert late == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_hostile_unary_tests_end_soon():
    late = [text[:200] for text in hostile_texts() if not _is_soon(_evaluate_as_unary_tests, text)]
    assert late == []


def test_values_that_stand_for_huge_texts_are_refused_soon():
    value = compile_expression("for i in 1..40 return [partial, partial]").evaluate({}).value
    start = time.process_time_ns()
    with pytest.raises(FeelError, match="exceeds 4000000 characters"):
        to_json(value)
    assert (time.process_time_ns() - start) / 1e6 < BOUND_MS * _slowness()
