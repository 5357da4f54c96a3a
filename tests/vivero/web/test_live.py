"""Hints: which topics may have changed, at which pace, for how many streams, and how they end."""

import json

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from vivero.web import live
from vivero.web.live import Hub, TooManyStreams, decode_id, encode_id

IN_1 = f"instance:{(1 << 51) + 7}"
IN_2 = f"instance:{(2 << 51) + 7}"


class Stream:
    """Reads a stream's events in a task."""

    def __init__(self, hub, topics, last_id="") -> None:
        self.events, self.ended = [], False
        self.hints = hub.hints(topics, last_id)

    async def run(self):
        async for event in self.hints:
            self.events.append(event.decode())
        self.ended = True

    @property
    def topics(self):
        """The topics of each hint."""
        datas = [dict(line.split(": ", 1) for line in event.splitlines() if line) for event in self.events]
        return [json.loads(found["data"])["topics"] for found in datas if "event" not in found and "data" in found]


@pytest.fixture
def stream(hub, nursery):
    """Starts a stream that counts as one of client `a`."""

    async def start(*topics, last_id=""):
        started = Stream(hub, topics, last_id)

        async def run():
            with hub.admitted("a"):
                await started.run()

        nursery.start_soon(run)
        await wait_all_tasks_blocked()
        return started

    return start


async def test_a_change_is_a_hint(hub, stream, autojump_clock):
    one = await stream("incidents", "tasks")
    hub.processed(1, 7)
    await trio.sleep(1)
    assert one.topics == [["incidents", "tasks"]]
    assert "id: 1:7\n" in one.events[-1]


async def test_an_instance_has_the_hints_of_its_partition(hub, stream, autojump_clock):
    one = await stream(IN_1, IN_2, "incidents")
    hub.processed(2, 1)
    await trio.sleep(1)
    assert one.topics == [[IN_2, "incidents"]]


async def test_a_stream_says_first_how_long_nothing_has_changed(hub, stream, autojump_clock):
    """A page that was read before that reads again: its stream was not open when the change came."""
    unknown = await stream("incidents")
    hub.processed(1, 7)
    await trio.sleep(2.5)
    hub.processed(1, 7)
    known = await stream("incidents")
    assert 'event: ready\nid: \ndata: {"quietMs":0}\n' in unknown.events[0]
    assert 'event: ready\nid: 1:7\ndata: {"quietMs":2500}\n' in known.events[0]


async def test_many_changes_are_few_hints(hub, stream, autojump_clock):
    one = await stream("incidents")
    for position in range(1, 201):
        hub.processed(1, position)
        await trio.sleep(0.01)
    await trio.sleep(1)
    assert 8 <= len(one.topics) <= 10  # two seconds, four hints a second
    assert "id: 1:200\n" in one.events[-1]


async def test_nothing_new_is_no_hint(hub, stream, autojump_clock):
    hub.processed(1, 7)
    one = await stream("incidents")
    hub.processed(1, 7)
    hub.processed(1, 3)
    await trio.sleep(1)
    assert one.topics == []


async def test_a_silent_stream_sends_comments(stream, autojump_clock):
    one = await stream("incidents")
    await trio.sleep(live.HEARTBEAT_S * 2 + 1)
    assert one.events[1:] == [live.HEARTBEAT.decode()] * 2


async def test_a_stream_goes_on_where_the_last_one_ended(hub, stream, autojump_clock):
    hub.processed(1, 7)
    same, missed, other = await stream("a", last_id="1:7"), await stream("b", last_id="1:6"), Stream(hub, ["c"], "2:1")
    await anext(other.hints)
    await trio.sleep(1)
    assert (same.topics, missed.topics) == ([], [["b"]])
    assert b'"c"' in await anext(other.hints)
    await other.hints.aclose()


async def test_a_stop_says_bye(hub, stream, autojump_clock):
    one = await stream("incidents")
    hub.processed(1, 7)
    hub.close()
    await trio.lowlevel.checkpoint()
    await wait_all_tasks_blocked()
    assert (one.ended, one.events[-1]) == (True, "event: bye\ndata: {}\n\n")
    assert hub.streams == 0


async def test_a_stream_ends_after_some_minutes_without_a_bye(stream, autojump_clock):
    one = await stream("incidents")
    await trio.sleep(live.LIFETIME_S + live.HEARTBEAT_S)
    assert one.ended
    assert not any("bye" in event for event in one.events)


def test_streams_are_bounded_for_each_client_and_in_all():
    hub = Hub(3, 2)
    with hub.admitted("a"), hub.admitted("a"):
        with pytest.raises(TooManyStreams):
            hub.check("a")
        with hub.admitted("b"), pytest.raises(TooManyStreams):
            hub.check("c")
        hub.check("c")
    assert hub.streams == 0


def test_a_closed_hub_takes_nobody():
    hub = Hub(3, 2)
    hub.close()
    with pytest.raises(TooManyStreams):
        hub.check("a")


@pytest.mark.parametrize("positions", [{1: 40231}, {1: 40231, 2: 77, 10: 0}])
def test_an_id_names_the_position_of_each_partition(positions):
    assert decode_id(encode_id(positions).decode()) == positions


@pytest.mark.parametrize(
    "text", ["", "x", "1", "1:", ":1", "1:2,", "-1:2", "1:2:3", "٣:1", "1:" + "9" * 50, "," * 20_000]
)
def test_an_unknown_id_is_none(text):
    assert decode_id(text) == {}
