"""Raising the number of partitions under traffic."""

from collections import Counter

import pytest
import trio

from tests.core.engine import raw
from tests.core.partitions.test_interleavings import MODELS
from tests.engine.several_partitions import PartitionsEngine
from tests.engine.test_several_partitions import CORRELATED_TWICE, OPEN, UNLIKE, Traffic, live
from vivero.core.partitions.routes import SLOTS, Routes, spread
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.engine.cluster.partition_growth import NotRaised, plan, raise_number
from vivero.storage.access import directory
from vivero.storage.cluster import routes
from vivero.storage.postgres import driver


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 3), (3, 7), (4, 4), (5, 1_024)])
def test_moves_go_upwards_and_end_even(before, after):
    known = Routes(1, before, spread(before) if before > 1 else ())
    owners = [known.owner_of(slot) for slot in range(SLOTS)]
    for move in plan(known, after):
        assert move.owner < move.to
        assert {owners[slot] for slot in move.slots} == {move.owner}
        for slot in move.slots:
            owners[slot] = move.to
    counts = Counter(owners)
    assert len(counts) == after
    assert max(counts.values()) - min(counts.values()) <= 1


def test_as_few_slots_move_as_must():
    moved = sum(len(move.slots) for move in plan(Routes(1, 2, spread(2)), 4))
    assert moved == SLOTS // 2


@pytest.mark.long
async def test_no_message_is_lost_while_the_number_rises(migrated, seed):
    """The engine runs consumers for all four from the start. Two of them have nothing to do before."""
    async with PartitionsEngine(migrated, 4).running() as engine:
        script = "UPDATE slots SET partition_id = 1 + slot % 2; UPDATE definitions_seq SET n = n + 1"
        await engine.connection.script(script)
        await engine.deploy(*MODELS)
        traffic, moves = Traffic(engine, seed), []
        connection = await driver.connect(migrated, name="vivero test raising")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(raise_number, connection, 4, moves.append)
            for _ in range(200):
                await traffic.step()
        connection.close()
        await engine.settled()
        await engine.until(lambda: set(traffic.positions) <= set(engine.answers))
        assert {(move.owner, move.to) for move in moves} == {(1, 3), (2, 4)}
        assert set((await routes.read(engine.connection)).slots) == {1, 2, 3, 4}
        assert await engine.rows(CORRELATED_TWICE) == []
        assert await engine.rows(UNLIKE) == []
        while instances := await live(engine):
            for instance in instances:
                await traffic.send(CancelInstance(instance))
            await engine.settled()
        assert await engine.value(OPEN) == 0


async def test_the_number_is_not_lowered(migrated):
    async with PartitionsEngine(migrated, 3).running() as engine:
        with pytest.raises(NotRaised, match="cannot be lowered: keys and positions carry their partition"):
            await raise_number(engine.connection, 2, lambda _move: None)


@pytest.mark.parametrize("number", [0, 1_025])
async def test_more_partitions_than_slots_are_refused(migrated, number):
    connection = await driver.connect(migrated)
    with pytest.raises(NotRaised, match="between 1 and 1024"):
        await raise_number(connection, number, lambda _move: None)
    assert (await routes.read(connection)).partitions == 1
    connection.close()


async def test_new_partitions_own_their_share(migrated):
    """From one partition to three. The new ones begin at their first positions and keys, and work like the first."""
    async with PartitionsEngine(migrated, 1, later=2).running() as engine:
        await engine.deploy(*MODELS)
        connection = await driver.connect(migrated)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(raise_number, connection, 3, lambda _move: None)
            await engine.until_value(3, "SELECT count(*) FROM partitions")
            engine.open(2)
            engine.open(3)
        connection.close()
        engine.routes = await routes.read(engine.connection)
        assert Counter(engine.routes.slots) == {1: 342, 2: 341, 3: 341}
        for partition in (1, 2, 3):
            key = next(key for key in map(str, range(100)) if engine.routes.of_channel("<default>", key) == partition)
            published = await engine.run(PublishMessage("hello", key, 60_000, None, raw({})), at=1)
            assert published.reply.message_key >> 51 == partition
            created = await engine.run(CreateInstance("waits", variables=raw({"k": "x"})), at=partition)
            assert created.reply.process_instance_key >> 51 == partition


async def test_tenants_are_pinned(migrated):
    connection = await driver.connect(migrated, name="vivero test")
    await routes.add_partitions(connection, 2, 3, trio.current_time() + 60)
    await directory.create(connection, directory.TENANT, "acme", ("Acme", None))
    await routes.pin(connection, "acme", [3, 2])
    assert (await routes.read(connection)).of_tenant("acme") == (2, 3)
    await routes.pin(connection, "acme", [])
    read = await routes.read(connection)
    assert list(read.of_tenant("acme")) == [1, 2, 3]
    assert read.revision == 3
    connection.close()
