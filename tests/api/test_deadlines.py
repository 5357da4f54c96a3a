"""One task watches the deadlines of many requests. Without a database."""

import pytest
import trio

from vivero.api.http.deadlines import GRAIN_S, Deadlines


@pytest.fixture
async def deadlines(nursery):
    deadlines = Deadlines()
    nursery.start_soon(deadlines.run)
    await trio.testing.wait_all_tasks_blocked()
    return deadlines


async def timed(deadlines, channel, until, ended):
    send, receive = channel
    message = await deadlines.receive(send, receive, until)
    ended.append((trio.current_time(), until, message))


def channel():
    """With places for a message and for the end of the time."""
    return trio.open_memory_channel[str | None](2)


async def test_each_wait_ends_at_its_deadline(autojump_clock, deadlines):
    ended = []
    async with trio.open_nursery() as nursery:
        for number in range(200):
            nursery.start_soon(timed, deadlines, channel(), trio.current_time() + 1.0, ended)
            if number % 3 == 0:  # somebody is in more of a hurry
                nursery.start_soon(timed, deadlines, channel(), trio.current_time() + 0.5, ended)
            await trio.sleep(0.007)
    assert len(ended) == 267
    assert all(0 <= at - until <= GRAIN_S + 1e-6 for at, until, _ in ended)
    assert {message for _, _, message in ended} == {None}


async def test_a_message_ends_the_wait_at_once(autojump_clock, deadlines):
    (send, receive), ended = channel(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timed, deadlines, (send, receive), trio.current_time() + 1.0, ended)
        await trio.sleep(0.25)
        send.send_nowait("message")
    ((at, until, message),) = ended
    assert (at, message) == (until - 0.75, "message")
    await trio.sleep(2.0)
    assert not deadlines._waits, "nothing is kept of it"
    with pytest.raises(trio.WouldBlock):
        receive.receive_nowait()


async def test_without_the_task_a_wait_has_a_deadline_too(autojump_clock):
    ended = []
    await timed(Deadlines(), channel(), trio.current_time() + 1.0, ended)
    ((at, until, message),) = ended
    assert (at, message) == (until, None)


async def test_when_the_task_ends_all_waits_end(autojump_clock):
    deadlines, ended = Deadlines(), []
    async with trio.open_nursery() as nursery, trio.open_nursery() as watching:
        watching.start_soon(deadlines.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(timed, deadlines, channel(), trio.current_time() + 1.0, ended)
        await trio.testing.wait_all_tasks_blocked()
        watching.cancel_scope.cancel()
    assert len(ended) == 1
    assert trio.current_time() - ended[0][0] == 0
    assert ended[0][0] < ended[0][1]
