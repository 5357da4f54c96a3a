"""The decisions of each node: fake nodes on a real database, without consumers."""

import pytest
import trio
import trio.testing

from tests.engine.consumer.serial_runs import beat
from tests.eventually import eventually, eventually_rows
from vivero.engine.cluster.assignment import Assignment, Duty
from vivero.engine.cluster.partition_duties import PartitionDuties
from vivero.engine.cluster.settings import ClusterSettings
from vivero.engine.cluster.task import Cluster, eligible
from vivero.storage.cluster import leadership, nodes
from vivero.storage.cluster.nodes import Node, Registration
from vivero.storage.postgres import driver

PARTITIONS = (1, 2)


def registration(name, roles, version, schema):
    return Registration(name, roles, version, schema, "localhost", 1)


class FakeNode:
    """A cluster task that is made to look by the test, and fake consumers."""

    def __init__(self, connect, name, roles=("engine",), grace_s=60.0, version="1.0", schema=13, **more) -> None:
        self.connect, self.name = connect, name
        self.duties = PartitionDuties(PARTITIONS)
        self.told = 0
        self.opened = []
        settings = ClusterSettings(grace_s=grace_s)
        told = registration(name, roles, version, schema)
        self.cluster = Cluster(connect, told, self.duties, settings, self.tell, self.open, **more)
        self.connection: driver.Connection | None = None

    def tell(self):
        self.told += 1

    def open(self, partition):
        self.opened.append(partition)
        self.duties.open(partition)

    async def look(self):
        """The duties after one look."""
        if self.connection is None:
            self.connection = await self.connect()
            await nodes.register(self.connection, self.cluster.node)
        await self.cluster.run_once(self.connection, beat())
        return [self.duties[partition].assignment.duty for partition in self.duties]

    async def lead(self, *which):
        for partition in which:
            await leadership.claim(self.connection, partition, self.name)

    def get_ready(self, partition):
        self.duties[partition].assignment.ready = True

    async def die(self, connection):
        assert self.connection is not None
        self.connection.abort()
        gone = "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)"
        await eventually_rows(connection, [(True,)], gone, self.connection.backend_pid)


@pytest.fixture
async def node(connect, connection):
    await leadership.create(connection, len(PARTITIONS))
    # The server of the tests may have started a moment ago; nodes without a session count as live then.
    is_older = f"SELECT pg_postmaster_start_time() < now() - interval '{nodes.LIVE_S} s'"
    await eventually_rows(connection, [(True,)], is_older)
    return lambda name, **options: FakeNode(connect, name, **options)


async def test_a_node_follows_changed_log_levels_and_tells_of_each_change_once(node, connection):
    changes = []
    first, second = node("a", log_levels=changes.append), node("b")
    await first.look()
    await second.look()
    for levels in ({"vivero.engine": "debug"}, {"vivero.engine": "debug", "trio": "info"}, {}):
        await nodes.set_log_levels(connection, "a", levels)
        await first.look()
        await first.look()
    await nodes.set_log_levels(connection, "b", {"vivero": "error"})
    await first.look()
    assert changes == [{"vivero.engine": "debug"}, {"vivero.engine": "debug", "trio": "info"}, {}]


async def test_a_node_alone_leads_everything(node):
    assert await node("a").look() == [Duty.OURS, Duty.OURS]


async def test_a_leader_keeps_a_partition_until_the_other_node_is_ready(node):
    first, second = node("a"), node("b")
    await first.look()
    await first.lead(1, 2)
    assert await second.look() == [Duty.ELSEWHERE, Duty.NEXT]
    assert await first.look() == [Duty.OURS, Duty.OURS]
    second.get_ready(2)
    await second.look()
    assert await first.look() == [Duty.OURS, Duty.ELSEWHERE]


async def test_a_partition_that_was_handed_over_is_claimed_by_the_node_that_it_is_meant_for(node, connection):
    first, second = node("a"), node("b")
    await first.look()
    await first.lead(1, 2)
    await second.look()
    await connection.execute("UPDATE partitions SET lease_until = NULL WHERE id = 2")
    assert await second.look() == [Duty.ELSEWHERE, Duty.OURS]
    assert await first.look() == [Duty.OURS, Duty.ELSEWHERE]


async def test_others_claim_a_free_partition_after_the_grace(node):
    patient, quick = node("a"), node("b", grace_s=0.0)
    await patient.look()
    await quick.look()
    assert await patient.look() == [Duty.OURS, Duty.ELSEWHERE]
    assert await quick.look() == [Duty.OURS, Duty.OURS]


async def test_the_partitions_of_a_killed_node_are_taken_at_once(node, connection):
    first, second = node("a"), node("b")
    await first.look()
    await first.lead(1, 2)
    assert await second.look() == [Duty.ELSEWHERE, Duty.NEXT]
    await first.die(connection)
    assert await second.look() == [Duty.OURS, Duty.OURS]


async def test_a_node_without_heartbeats_is_dead_although_its_session_lives(node, connection):
    first, second = node("a"), node("b")
    await first.look()
    await first.lead(1, 2)
    await second.look()
    await connection.execute("UPDATE nodes SET heartbeat_at = heartbeat_at - interval '6 s' WHERE id = 'a'")
    assert await second.look() == [Duty.NEXT, Duty.NEXT], "its lease runs on"
    await connection.execute("UPDATE partitions SET lease_until = clock_timestamp()")
    assert await second.look() == [Duty.OURS, Duty.OURS]


async def test_a_draining_node_hands_over_and_can_be_taken_back(node, connection):
    first, second = node("a"), node("b")
    await first.look()
    await first.lead(1, 2)
    await second.look()
    assert await nodes.set_draining(connection, "a", True)
    assert await second.look() == [Duty.NEXT, Duty.NEXT]
    second.get_ready(1)
    await second.look()
    assert await first.look() == [Duty.ELSEWHERE, Duty.OURS]
    await nodes.set_draining(connection, "a", False)
    assert (await first.look())[0] is Duty.OURS
    assert not await nodes.set_draining(connection, "nobody", True)


async def test_the_last_node_that_drains_goes_on(node, connection):
    last = node("a")
    await last.look()
    await nodes.set_draining(connection, "a", True)
    assert await last.look() == [Duty.OURS, Duty.OURS]


async def test_a_node_without_the_engine_leads_nothing(node):
    api, engine = node("a", roles=("api",)), node("b")
    assert await api.look() == [Duty.UNDECIDED, Duty.UNDECIDED]
    assert await engine.look() == [Duty.OURS, Duty.OURS]


async def test_a_node_that_was_forgotten_registers_again(node, connection):
    first = node("a")
    await first.look()
    await connection.execute("DELETE FROM nodes")
    assert await first.look() == [Duty.OURS, Duty.OURS]
    assert [one.id for one in first.cluster.view.nodes] == ["a"]


async def test_a_new_partition_is_opened(node, connection):
    first = node("a")
    await first.look()
    await connection.execute("SELECT make_partition(3)")
    assert await first.look() == [Duty.OURS] * 3
    assert first.opened == [3]


async def test_a_node_that_stops_tells_the_others_and_is_forgotten(node, connection):
    first = node("a")
    child = beat()
    await first.look()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(first.cluster.run, child)
        await eventually(lambda: first.told)
        await connection.execute(f"LISTEN {nodes.NODES_CHANNEL}")
        first.cluster.drain()
    assert [first.duties[one].assignment.duty for one in PARTITIONS] == [Duty.ELSEWHERE] * 2
    assert (await connection.execute("SELECT count(*) FROM nodes")).rows == [(0,)]


def test_who_may_lead():
    def one(id, **changed):
        told = {"draining": False, "live": True, "roles": ("api", "engine")} | changed
        times = {"started_ms": 0, "heartbeat_ms": 0}
        return Node(id=id, number=1, version="1", schema=1, host="h", port=1, ready=(), **times, **told)

    def ids(*those, own="a"):
        return list(eligible(those, own))

    assert ids(one("a"), one("b", live=False), one("c", roles=("api",)), one("d", draining=True), one("e")) == [
        "a",
        "e",
    ]
    assert ids(one("a", live=False), one("b")) == ["a", "b"], "who looks is alive"
    assert ids(one("a", draining=True), one("b", draining=True)) == ["a", "b"], "somebody has to"


async def test_a_consumer_is_ready_while_it_waits_for_its_turn():
    told = []
    assignment = Assignment(Duty.NEXT, lambda: told.append(assignment.ready))
    turns = []

    async def wait():
        turns.append(await assignment.turn(beat()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        assert told == [True]
        assert assignment.set(Duty.OURS)
        assert not assignment.set(Duty.OURS)
    assert turns == [True]
    assert not assignment.ready
    assignment.set(Duty.ELSEWHERE)
    assert not await assignment.turn(beat())
