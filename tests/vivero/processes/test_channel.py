"""The messages between the parent and a child."""

import socket
from contextlib import aclosing
from pathlib import Path

import pytest

from vivero.config.sources import load
from vivero.engine.supervision.children import ChildHealth, ChildState
from vivero.processes.channel import AskStatus, Begin, Channel, Inflict, Serving, Status, Stop, from_child, to_child


@pytest.fixture
async def ends():
    """The parent's end and the child's."""
    ours, theirs = socket.socketpair()
    parent, child = Channel(ours, from_child), Channel(theirs, to_child)
    yield parent, child
    parent.close()
    child.close()


async def test_settings_arrive_as_they_were(ends):
    parent, child = ends
    flags = {"database.data_dir": Path("/tmp/x"), "api.node_name": "blue", "roles": "api,jobs", "http.max_in_flight": 5}
    begin = Begin("2", load(environment={}, flags=flags), "host=/x dbname=y", [7, 8], 9, 1, Path("/tmp/siblings"))
    async with aclosing(child.messages()) as messages:
        for message in (begin, AskStatus(1), Inflict(2, "api", "hang"), Stop()):
            await parent.send(message)
            assert await anext(messages) == message


async def test_the_end_of_the_other_process_ends_the_messages(ends):
    parent, child = ends
    await child.send(Serving())
    child.close()
    async with aclosing(parent.messages()) as messages:
        assert [message async for message in messages] == [Serving()]


async def test_a_status_with_a_task_that_does_not_run_arrives(ends):
    parent, child = ends
    health = ChildHealth("timers", ChildState.RESTARTING, False, None, 1, False, "ConnectFailed")
    status = Status(1, "blue", False, 0, 0, 0, [health])
    async with aclosing(parent.messages()) as messages:
        await child.send(status)
        assert await anext(messages) == status
