"""New work begins at home, unless that would leave other partitions idle. Without a database."""

from collections import Counter
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import trio

from vivero.api.admission.command_routing import CommandRouting
from vivero.api.admission.partition_loads import HOT, PERIOD_S, PartitionLoads
from vivero.core.partitions.routes import Routes
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.instances import CreateInstance
from vivero.node.node_events import NodeEvents
from vivero.storage.cluster.routes import ROUTES_CHANNEL
from vivero.storage.postgres.errors import Outage

CREATE = CreateInstance("p")


async def spread(routing, clock, creations, per_s=1_000, others=()):
    """The number of creations that each partition got; each is processed at once. `others` do as much meanwhile."""
    got = Counter()
    positions = Counter()
    for number in range(creations):
        partition = await routing.partition_of(CREATE, DEFAULT_TENANT, None, trio.current_time())
        got[partition] += 1
        for one in (partition, *others):
            positions[one] += 1
            routing.loads.processed(one, positions[one])
        if number % 10 == 9:
            clock.jump(10 / per_s)
            await trio.lowlevel.checkpoint()
    return got


def routing(partitions, led, **pins):
    return CommandRouting(Routes(1, partitions, pins=pins), lambda: led)


async def test_a_node_keeps_new_work_while_the_others_have_as_much_to_do(autojump_clock):
    assert await spread(routing(2, [2]), autojump_clock, 5_000, others=[1]) == {2: 5_000}


async def test_a_node_that_leads_several_shares_the_work_among_them(autojump_clock):
    assert await spread(routing(4, [1, 3]), autojump_clock, 4_000, others=[2, 4]) == {1: 2_000, 3: 2_000}


async def test_a_node_that_leads_nothing_shares_the_work_among_all(autojump_clock):
    assert await spread(routing(4, []), autojump_clock, 4_000) == dict.fromkeys(range(1, 5), 1_000)


async def test_if_all_clients_are_at_one_node_the_others_get_a_share(autojump_clock):
    got = await spread(routing(4, [1]), autojump_clock, 40_000)
    assert got[1] < 2 * HOT / 4 * 40_000
    assert min(got[2], got[3], got[4]) > 40_000 / 4 * 0.6


async def test_a_node_that_has_handed_over_keeps_nothing(autojump_clock):
    led = [1]
    handing = routing(2, led)
    assert set(await spread(handing, autojump_clock, 100, others=[2])) == {1}
    led.clear()
    await trio.sleep(2 * PERIOD_S)
    assert await spread(handing, autojump_clock, 100, per_s=10) == {1: 50, 2: 50}


async def test_new_work_of_a_pinned_tenant_stays_within_its_partitions(autojump_clock):
    pinned = routing(4, [1, 2], **{DEFAULT_TENANT: (2, 3)})
    assert await spread(pinned, autojump_clock, 100, others=[3]) == {2: 100}
    away = routing(4, [1], **{DEFAULT_TENANT: (2, 3)})
    assert await spread(away, autojump_clock, 100) == {2: 50, 3: 50}


def test_positions_that_a_crash_skipped_are_no_work():
    loads = PartitionLoads()
    for seconds, position in enumerate((10, 20, 1_000_020, 1_000_030, *range(1_000_040, 1_000_400, 10))):
        loads.processed(1, position)
        loads.processed(2, seconds * 1_000)
        loads.measure(float(seconds))
    assert loads.for_new_work([1, 2], [1]) == [1]
    assert loads.for_new_work([1, 2], [2]) == [1, 2]


async def test_a_notification_makes_the_next_command_read_the_routes(autojump_clock):
    """Otherwise they are read once a second."""
    reads = []

    @asynccontextmanager
    async def acquire():
        reads.append(trio.current_time())
        raise Outage("there is no connection")
        yield

    moved = CommandRouting()
    announcer: Any = SimpleNamespace(announce=None)
    events = NodeEvents(announcer)
    events.channels.changed(moved.outdated, ROUTES_CHANNEL)

    async def commands():
        for _ in range(3):
            await moved.partition_of(CREATE, DEFAULT_TENANT, acquire, trio.current_time())
        return len(reads)

    assert await commands() == 1
    events.channels.receive(ROUTES_CHANNEL, "")
    assert await commands() == 2
    await trio.sleep(1.1)
    assert await commands() == 3
    assert ROUTES_CHANNEL in events.channels.names
