"""Parts that are made at their first use."""

import threading

import pytest
import trio

from vivero.metrics.lazy import Lazy


async def test_the_first_users_share_what_a_thread_makes():
    made = []

    def make():
        made.append(threading.current_thread())
        return object()

    late, found = Lazy(make), []

    async def use():
        found.append(await late.get())

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(use)
    assert len(set(map(id, found))) == len(made) == 1
    assert made != [threading.main_thread()]
    assert await late.get() is found[0]


async def test_a_user_that_gives_up_takes_nothing_from_the_others():
    late, found = Lazy(object), []

    async def use(scope):
        with scope:
            found.append(await late.get())

    async with trio.open_nursery() as nursery:
        scopes = [trio.CancelScope() for _ in range(3)]
        for scope in scopes:
            nursery.start_soon(use, scope)
        scopes[1].cancel()
    assert len(found) == 2
    assert found[0] is found[1]


async def test_what_failed_is_tried_again():
    answers = iter([ImportError("no such library"), 7])

    def make():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    late = Lazy(make)
    with pytest.raises(ImportError, match="no such library"):
        await late.get()
    assert await late.get() == 7
