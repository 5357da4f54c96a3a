"""One node at a time does the chores, of all partitions; another takes over when it is gone."""

from contextlib import suppress

import trio

from tests.runtime.consumer.bench import beat
from vivero.engine.runtime.chore_lock import ChoreLock
from vivero.storage import chore_lock
from vivero.storage.postgres.errors import ConnectionLost


async def test_one_of_two_nodes_does_the_chores_of_all_partitions(connection, connect):
    await connection.execute("INSERT INTO partitions (id) VALUES (2), (3) ON CONFLICT DO NOTHING")
    one, other = ChoreLock(connect), ChoreLock(connect)
    second = await connect()
    await one.run_once(connection)
    await other.run_once(second)
    assert (one.partitions(), other.partitions()) == ((1, 2, 3), ())
    await connection.execute("DELETE FROM partitions WHERE id = 3")
    await one.run_once(connection)
    assert one.partitions() == (1, 2)
    second.close()


async def until(condition):
    with trio.fail_after(20):
        while not condition():
            await trio.lowlevel.checkpoint()


async def test_another_takes_over_and_the_first_one_knows(connection, connect):
    """Its session is ended: it must not believe that it still has the lock."""
    lives = []

    async def connecting():
        lives.append(await connect())
        return lives[-1]

    one, other = ChoreLock(connecting, every_s=0.01), ChoreLock(connect, every_s=0.01)
    ended = trio.Event()

    async def run_one():
        try:
            await one.run(beat())
        except ConnectionLost:
            ended.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_one)
        await until(one.partitions)
        nursery.start_soon(other.run, beat())
        await connection.execute("SELECT pg_terminate_backend($1)", (lives[0].backend_pid,))
        with trio.fail_after(20):
            await ended.wait()
        assert one.partitions() == ()
        await until(other.partitions)
        nursery.cancel_scope.cancel()
    assert other.partitions() == (), "what a stopped node did is free again"


async def test_a_frozen_holder_is_ended(connection, connect):
    """Its session lives on and says nothing any more. A session that speaks keeps the lock."""
    frozen = await connect()
    await ChoreLock(connect).run_once(frozen)
    patient, impatient = ChoreLock(connect), ChoreLock(connect, silent_s=0)
    await patient.run_once(connection)
    assert patient.partitions() == ()
    await impatient.run_once(connection)
    await until_lost(frozen)
    await impatient.run_once(connection)
    assert impatient.partitions() == (1,)


async def until_lost(connection):
    with trio.fail_after(20), suppress(ConnectionLost):
        while True:
            await connection.execute("SELECT 1")


async def test_only_the_holder_of_this_lock_and_database_is_ended(connection, connect):
    others = await connect(), await connect()
    await others[0].execute("SELECT pg_advisory_lock(4711, 0)")
    await others[1].execute("SELECT pg_advisory_lock_shared(4712, 1)")
    assert not await chore_lock.end_silent_holder(connection, 0)
    for other in others:
        await other.execute("SELECT 1")
        other.close()
