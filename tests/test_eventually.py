"""The helper that waits: what it returns, and what it says when its guard ends the wait."""

import pytest
import trio

from tests.eventually import NotInTime, eventually, eventually_sync

BOTH = pytest.mark.parametrize("wait", [eventually_sync, lambda *a, **k: trio.run(lambda: eventually(*a, **k))])


@BOTH
def test_the_first_answer_that_is_accepted_comes_back(wait):
    answers = iter((0, 1, 5, 7))
    assert wait(lambda: next(answers), accept=lambda answer: answer > 2, every_s=0) == 5


@BOTH
def test_without_a_condition_of_its_own_the_answer_must_be_true(wait):
    answers = iter(([], None, "found"))
    assert wait(lambda: next(answers), every_s=0) == "found"


@BOTH
def test_the_message_has_the_last_answer(wait):
    with pytest.raises(NotInTime, match=r"not within 0 s: a third row; the last answer was \[1, 2\]$"):
        wait(lambda: [1, 2], "a third row", accept=lambda rows: len(rows) == 3, within_s=0, every_s=0)


@BOTH
def test_the_message_has_the_last_answer_and_the_exception_after_it(wait):
    answers = iter((0, OSError("refused")))

    def read():
        match next(answers, OSError("closed")):
            case OSError() as error:
                raise error
            case answer:
                return answer

    said = r"the last answer was 0; the last attempt raised OSError\('closed'\)$"
    with pytest.raises(NotInTime, match=said) as caught:
        wait(read, within_s=0.05, every_s=0, despite=(OSError,))
    assert isinstance(caught.value.__cause__, OSError)


@BOTH
def test_an_exception_that_nobody_expects_passes_through(wait):
    def read():
        raise OSError("refused")

    with pytest.raises(OSError, match="refused"):
        wait(read, despite=(KeyError,))


async def test_a_coroutine_function_is_awaited_and_cancelled_at_the_end(autojump_clock):
    async def read():
        await trio.sleep_forever()

    with pytest.raises(NotInTime, match=r"not within 60.0 s: .*read; there was no answer$"):
        await eventually(read)


async def test_the_deadline_is_that_of_trios_clock(autojump_clock):
    with pytest.raises(NotInTime):
        await eventually(lambda: False, within_s=1000, every_s=50)
    assert trio.current_time() >= 1000
