"""The events that a node tells its parts and other nodes, and their order."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from vivero.config.sections import Config
from vivero.node.connections import Connections
from vivero.node.engine_tasks import EngineTasks
from vivero.node.http_server import identities_changed
from vivero.node.node_events import AVAILABLE, INBOX, PROCESSED, NodeEvents
from vivero.storage.access.identities import SESSIONS_ENDED
from vivero.storage.cluster.clock import CLOCK_CHANNEL
from vivero.storage.cluster.nodes import NODES_CHANNEL
from vivero.storage.postgres.primary import Primary
from vivero.storage.work.batch_operations import BATCHES_CHANNEL


class Recorder:
    """`heard(name)` is a callback that notes the name and what it got."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.announcer: Any = SimpleNamespace(announce=self.heard("announced"))

    def heard(self, name):
        return lambda *arguments: self.calls.append((name, *arguments))


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def events(recorder):
    return NodeEvents(recorder.announcer)


@pytest.mark.parametrize(("payload", "done"), [("", ["forget", "end_waits"]), (SESSIONS_ENDED, ["forget_sessions"])])
def test_only_a_change_of_rights_ends_long_polls(payload, done):
    called = []
    parts: Any = SimpleNamespace(
        forget=lambda: called.append("forget"),
        forget_sessions=lambda: called.append("forget_sessions"),
        end_waits=lambda: called.append("end_waits"),
    )
    identities_changed(parts, parts, payload)
    assert called == done


def test_requests_hear_of_a_commit_first_and_other_nodes_last(events, recorder):
    """The order of subscriptions does not matter."""
    events.progress.append(recorder.heard("progress"))
    events.leading.append(recorder.heard("leading"))
    events.outcomes.append(recorder.heard("outcomes"))
    events.committed(2, 7, ["outcome"], ["end"])
    assert recorder.calls == [
        ("outcomes", 2, 7, ["outcome"], ["end"]),
        ("leading", 2, 7),
        ("progress", 2, 7),
        ("announced", PROCESSED, 2, 7),
    ]


def test_progress_of_other_nodes_is_heard_and_not_told_again(events, recorder):
    events.progress.append(recorder.heard("progress"))
    events.leading.append(recorder.heard("leading"))
    events.channels.announced_of_partitions(PROCESSED, recorder.heard("elsewhere"))
    events.channels.receive(PROCESSED, json.dumps({"2": 7, "3": 8}))
    assert recorder.calls == [("progress", 2, 7), ("elsewhere", 2, 7), ("progress", 3, 8), ("elsewhere", 3, 8)]


@pytest.mark.parametrize("payload", ["", "7", "{", '{"2":"7"}', '{"x":7}', '{"2":7,"x":8}', '{"2.5":7}', '{"2":7.5}'])
def test_an_announcement_that_nobody_can_read_reaches_nobody(events, recorder, payload):
    """Every program of the database may notify. An error here would end the listener."""
    events.progress.append(recorder.heard("progress"))
    events.channels.receive(PROCESSED, payload)
    assert recorder.calls == []


def test_jobs_are_heard_here_and_elsewhere_and_told_once(events, recorder):
    events.jobs.append(recorder.heard("jobs"))
    events.available("pay", "a", 3)
    ((_, *heard), (_, channel, key, count)) = recorder.calls
    assert (heard, channel) == (["pay", "a", 3], AVAILABLE)
    recorder.calls.clear()
    events.channels.receive(channel, json.dumps({key: count}))
    assert recorder.calls == [("jobs", "pay", "a", 3)]


def test_after_a_connection_everybody_looks_once(events, recorder):
    events.channels.changed(lambda: recorder.calls.append("c1"), "c1")
    events.channels.notified("c2", recorder.heard("c2"))
    events.channels.announced("c3", recorder.heard("c3"))
    events.channels.reconnected.append(recorder.heard("reconnected"))
    events.channels.connected(False)
    assert recorder.calls == []
    events.channels.connected(True)
    assert recorder.calls == ["c1", ("c2", ""), ("reconnected",)]
    assert {"c1", "c2", "c3"} <= set(events.channels.names)


def test_without_a_part_that_leases_no_new_job_is_leased(events):
    assert not events.lease_new({}, 0)


def test_notifications_that_cannot_be_read_do_no_harm(events, recorder):
    events.progress.append(recorder.heard("progress"))
    events.channels.receive(PROCESSED, "{")
    events.channels.receive("vivero_unknown", "")
    events.channels.receive(PROCESSED, '{"1":2}')
    assert recorder.calls == [("progress", 1, 2)]


@pytest.fixture
async def engine(recorder, events):
    """The tasks of an engine with two partitions, of which none runs."""
    made: Any = EngineTasks
    connections = Connections(Primary("postgresql://nowhere"))
    engine = made(Config(partitions=2), connections, "n", None, events, lambda *_children: None)
    list(engine.children())
    for name in ("timers", "batch_operations", "cluster", "appender"):
        setattr(engine, name, Parts(recorder, name))
    engine.hears(events)
    return engine


class Parts:
    """Stands for a task, or for the tasks of all partitions."""

    def __init__(self, recorder, name) -> None:
        self._recorder, self._name = recorder, name

    def __getattr__(self, method) -> Any:
        return self._recorder.heard(f"{self._name}.{method}")

    def __getitem__(self, partition) -> Any:
        return Parts(self._recorder, f"{self._name} {partition}")

    def values(self):
        return [self[1], self[2]]


async def test_only_the_owner_of_partition_1_works_on_batch_operations(engine, events, recorder):
    events.channels.receive(BATCHES_CHANNEL, "")
    events.leads(2, 5)
    events.leads(1, 6)
    assert recorder.calls == [
        ("batch_operations.wake",),
        ("timers 2.term", 5),
        ("timers 1.term", 6),
        ("batch_operations.term", 6),
    ]


async def test_an_engine_hears_of_the_clock_and_of_nodes(engine, events, recorder):
    events.clock_changed()
    events.channels.receive(CLOCK_CHANNEL, "")
    events.channels.receive(NODES_CHANNEL, "")
    clock = [("timers 1.clock_changed",), ("timers 2.clock_changed",)]
    assert recorder.calls == [*clock, *clock, ("cluster.refresh_soon",)]


async def test_commands_for_another_node_go_through_its_inbox(engine, events, recorder):
    events.inbox_filled(2)
    events.channels.receive(INBOX, '{"1":1}')
    assert recorder.calls == [("announced", INBOX, 2, 1)], "none is led here"
    recorder.calls.clear()
    engine.duties[1].term = SimpleNamespace(leading=True)
    events.inbox_filled(1)
    events.channels.receive(INBOX, '{"1":1}')
    assert recorder.calls == 2 * [("appender.inbox_filled", 1)]
