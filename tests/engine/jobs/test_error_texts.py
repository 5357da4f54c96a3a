"""Errors of background jobs, as lists, the log and the console have them."""

import re

import pytest

from vivero.engine.jobs.definitions import job
from vivero.engine.jobs.error_texts import MAX_ERROR, place_of, text_of
from vivero.engine.jobs.execution import Execution
from vivero.engine.jobs.handlers import call
from vivero.storage.background.job_executions import Run

EXECUTION = Execution(Run("id", "t", 0, None, None, None, "lease", 0, 0, 0))


def inner(text, depth=0):
    if depth:
        inner(text, depth - 1)
    raise ValueError(text)


async def error_of(text="no such invoice", depth=0, function=inner):
    @job("x")
    async def fails(execution):
        function(text, depth)

    with pytest.raises((ValueError, KeyboardInterrupt)) as caught:
        await call(fails, EXECUTION, set())
    return caught.value


async def test_the_calls_are_those_of_the_author_and_the_message_comes_last():
    error = await error_of()
    calls, _, message = text_of(error).rpartition("\n")
    assert message == "ValueError: no such invoice"
    assert re.findall(r", in (\w+)$", calls, re.MULTILINE) == ["fails", "inner"]
    assert place_of(error).startswith(f"{__file__}:")


async def test_a_long_text_keeps_the_message_and_the_last_calls():
    text = text_of(await error_of(depth=40))
    assert len(text) <= MAX_ERROR
    assert text.splitlines()[0].startswith("  ")
    assert text.endswith("ValueError: no such invoice")
    text = text_of(await error_of("x" * 5000))
    assert text == ("ValueError: " + "x" * 5000)[:MAX_ERROR]


async def test_characters_that_cannot_be_stored_are_replaced():
    assert text_of(await error_of("a\0b\ud800")).endswith("a\ufffdb?")


def test_an_error_that_was_never_raised_has_no_calls():
    assert (text_of(ValueError("x")), text_of(ValueError()), place_of(ValueError())) == (
        "ValueError: x", "ValueError", None,
    )  # fmt: skip
