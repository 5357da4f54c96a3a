"""The jobs of suspended instances: the order of their locks, and which rows are read."""

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.storage.search.test_plans import rows_of
from tests.storage.test_activation import put_job
from vivero.storage.postgres import driver
from vivero.storage.postgres.plans import BY_INDEX
from vivero.storage.postgres.sql_files import beside
from vivero.storage.state import save
from vivero.storage.work import activation
from vivero.storage.work.activation import Lease

SAVE = beside(save.__file__)
OLDER, YOUNGER = 11, 12
TOKEN = "00000000-0000-0000-0000-000000000001"
PLACES = ([1, 2], [1, 2], [])
"""Both instances, with their whole trees."""
CHANGES = {
    "released": (SAVE["released_jobs"], PLACES),
    "released in parts": (SAVE["released_jobs"], ([], [], [1, 2])),
    "suspended": (SAVE["suspended_jobs"], (*PLACES, [])),
}


@pytest.fixture
def sync(database):
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def connect(database):
    connections = []

    async def connected():
        connections.append(await driver.connect(database, name="vivero test", settings=BY_INDEX))
        return connections[-1]

    yield connected
    for connection in connections:
        connection.close()


def put(sync, key, instance, **row):
    put_job(sync, key, root_key=instance, part_key=instance, process_instance_key=instance, **row)


@pytest.mark.parametrize("change", CHANGES)
async def test_jobs_are_locked_in_the_order_of_their_keys(sync, connect, change):
    """Another transaction locks them in this order, too. The older instance has the younger job: in the order of the
    instances each would wait for the other."""
    statement, values = CHANGES[change]
    suspended = {"suspended_ready": True} if "released" in change else {}
    put(sync, YOUNGER, 1, ready=False, lease_token=TOKEN, **suspended)
    put(sync, OLDER, 2, ready=False, lease_token=TOKEN, **suspended)
    first, second = await connect(), await connect()
    await first.script(f"BEGIN; SELECT FROM jobs WHERE job_key = {OLDER} FOR UPDATE")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(second.execute, statement, values)
        await eventually(lambda: waits(sync))
        await first.script(f"SELECT FROM jobs WHERE job_key = {YOUNGER} FOR UPDATE; COMMIT")
    assert sync.execute("SELECT count(*) FROM jobs WHERE suspended_ready").fetchone() == (0,)


async def test_a_job_that_the_engine_holds_is_given_back_without_a_deadlock(sync, connect):
    """The engine saves its jobs in any order. The other job is free at once: the engine never waits for it."""
    for key, instance in ((OLDER, 1), (YOUNGER, 2)):
        put(sync, key, instance, ready=False, lease_token=TOKEN)
    engine, leaving = await connect(), await connect()
    available = []

    async def leave():
        leases = [Lease(key, TOKEN) for key in (YOUNGER, OLDER)]
        available.extend(await activation.release(leaving, leases))

    await engine.script(f"BEGIN; SELECT FROM jobs WHERE job_key = {OLDER} FOR UPDATE")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave)
        await eventually(lambda: waits(sync))
        assert sync.execute("SELECT job_key FROM jobs WHERE ready").fetchall() == [(YOUNGER,)]
        await engine.script(f"SELECT FROM jobs WHERE job_key = {YOUNGER} FOR UPDATE; COMMIT")
    assert available == [("work", "<default>")] * 2
    assert sync.execute("SELECT count(*) FROM jobs WHERE ready AND lease_token IS NULL").fetchone() == (2,)


async def test_a_job_that_is_done_meanwhile_is_not_given_back(sync, connect):
    put(sync, OLDER, 1, ready=False, lease_token=TOKEN)
    engine, leaving = await connect(), await connect()
    available = []

    async def leave():
        available.extend(await activation.release(leaving, [Lease(OLDER, TOKEN)]))

    await engine.script(f"BEGIN; UPDATE jobs SET lease_token = NULL, ended_at = now() WHERE job_key = {OLDER}")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(leave)
        await eventually(lambda: waits(sync))
        await engine.script("COMMIT")
    assert available == []
    assert sync.execute("SELECT count(*) FROM jobs WHERE ready").fetchone() == (0,)


def waits(sync):
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        " AND cardinality(pg_blocking_pids(pid)) > 0"
    )
    return sync.execute(waiting).fetchone() == (1,)


@pytest.mark.long
@pytest.mark.parametrize(("name", "rest"), [("released_jobs", ()), ("suspended_jobs", ([],))])
async def test_ended_jobs_are_not_read(sync, connect, name, rest):
    """An instance that has done very much is suspended as fast as another."""
    for key in range(100, 110):
        put(sync, key, 1)
    sync.execute(
        "INSERT INTO jobs SELECT (jsonb_populate_record(j, jsonb_build_object('job_key', 1000 + n, 'ended_at', now(),"
        " 'ready', false))).* FROM jobs j CROSS JOIN generate_series(1, 3000) n WHERE job_key = 100"
    )
    sync.execute("ANALYZE jobs")
    assert 10 <= await rows_of(await connect(), SAVE[name].text, ([1], [1], [], *rest)) <= 60
