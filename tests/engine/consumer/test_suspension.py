"""Suspended process instances on PostgreSQL: their jobs are never leased, whatever races, and go on as they were."""

import pytest
import trio

from tests.engine.consumer.test_job_counts import WORK
from tests.engine.whole_engine import START_MS, WholeEngine, waits
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance
from vivero.core.records.jobs import CompleteJob, FailJob
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import clock
from vivero.storage.postgres.driver import connect
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest

MINUTE = 60_000


@pytest.fixture(params=[0, 48_000_000], ids=["loaded", "in memory"])
async def engine(migrated, connection, request):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=request.param))
    async with engine.running():
        await engine.deploy(WORK)
        yield engine


async def leased(connection, count=1, timeout_ms=MINUTE):
    ask = ActivationRequest("work", "<default>", count, timeout_ms, "ann")
    return (await activation.activate(connection, ask)).leases


async def keys(engine):
    return [key for (key,) in await engine.rows("SELECT process_instance_key FROM process_instances ORDER BY 1")]


async def run(engine, command):
    outcome = await engine.run(command)
    return None if outcome.rejection is None else outcome.rejection.code


async def run_together(engine, *commands):
    """All in one batch."""
    assert [outcome.rejection for outcome in await engine.run_together(*commands)] == [None] * len(commands)


async def test_no_job_of_a_suspended_instance_is_leased(engine, connection):
    await engine.create(count=3)
    one, two, three = await keys(engine)
    assert await run(engine, SuspendInstance(one)) is None
    assert await run(engine, SuspendInstance(two)) is None
    (lease,) = await leased(connection, 5)
    assert await engine.value(f"SELECT process_instance_key FROM jobs WHERE job_key = {lease.job_key}") == three
    assert await activation.next_available_ms(connection, "work", "<default>") == MINUTE
    assert await run(engine, ResumeInstance(two)) is None
    assert len(await leased(connection, 5)) == 1
    assert await run(engine, CancelInstance(one)) is None
    assert await engine.rows("SELECT state FROM process_instances ORDER BY process_instance_key LIMIT 1") == [
        ("TERMINATED",)
    ]


async def test_a_lease_outlives_the_suspension_and_is_not_extended(engine, connection):
    await engine.create()
    (key,) = await keys(engine)
    (lease,) = await leased(connection)
    assert await run(engine, SuspendInstance(key)) is None
    complete = CompleteJob(lease.job_key, {}, lease.token)
    assert await run(engine, complete) is RejectionCode.INVALID_STATE
    assert await activation.extend(connection, lease.job_key, MINUTE, lease.token) is activation.Refusal.NOT_LEASED
    assert await run(engine, ResumeInstance(key)) is None
    assert await leased(connection) == [], "the lease still holds"
    assert await run(engine, complete) is None


async def test_a_lease_that_ends_meanwhile_is_given_anew_after_the_resumption(engine, connection):
    await engine.create()
    (key,) = await keys(engine)
    (first,) = await leased(connection)
    assert await run(engine, SuspendInstance(key)) is None
    await engine.set_clock(START_MS + 2 * MINUTE)
    assert await leased(connection) == []
    assert await run(engine, ResumeInstance(key)) is None
    (second,) = await leased(connection)
    assert (second.job_key, second.token == first.token) == (first.job_key, False)
    assert await run(engine, CompleteJob(first.job_key, {}, first.token)) is RejectionCode.INVALID_STATE


async def test_a_worker_that_leaves_gives_a_suspended_job_back_for_later(engine, connection):
    await engine.create()
    (key,) = await keys(engine)
    leases = await leased(connection)
    assert await run(engine, SuspendInstance(key)) is None
    await activation.release(connection, leases)
    assert await leased(connection) == []
    assert await run(engine, ResumeInstance(key)) is None
    assert len(await leased(connection)) == 1


async def test_a_backoff_goes_on_after_the_resumption(engine, connection):
    await engine.create()
    (key,) = await keys(engine)
    (lease,) = await leased(connection)
    assert await run(engine, FailJob(lease.job_key, 2, 10 * MINUTE)) is None
    assert await run(engine, SuspendInstance(key)) is None
    assert await run(engine, ResumeInstance(key)) is None
    assert await leased(connection) == []
    await engine.set_clock(START_MS + 11 * MINUTE)
    assert len(await leased(connection)) == 1


async def test_suspended_and_resumed_in_one_batch(engine, connection):
    """The jobs follow the last state, and what happens to them after a resumption is not undone."""
    await engine.create()
    (key,) = await keys(engine)
    (lease,) = await leased(connection)
    await run_together(engine, SuspendInstance(key), ResumeInstance(key), SuspendInstance(key))
    assert await leased(connection) == []
    backoff = FailJob(lease.job_key, 2, 10 * MINUTE)
    await run_together(engine, ResumeInstance(key), backoff, SuspendInstance(key), ResumeInstance(key))
    assert await leased(connection) == [], "the backoff holds"
    await engine.set_clock(START_MS + 11 * MINUTE)
    assert len(await leased(connection)) == 1


@pytest.mark.long
async def test_an_activation_races_a_suspension(engine, migrated):
    """Each job is leased before the suspension is answered, or not at all."""
    await engine.create(count=30)
    suspended, late = set(), []

    async def activating():
        connection = await connect(migrated)
        while len(suspended) < 30:
            before = set(suspended)
            for lease in await leased(connection, 2):
                late.extend({jobs[lease.job_key]} & before)
        connection.close()

    rows = await engine.rows("SELECT job_key, process_instance_key FROM jobs")
    jobs = dict(map(tuple, rows))
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(activating)
        for key in await keys(engine):
            assert await run(engine, SuspendInstance(key)) is None
            suspended.add(key)
    assert late == []


async def test_a_timer_of_a_suspended_instance_fires_after_the_resumption(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated)
    async with engine.running():
        await engine.deploy(waits("PT1H"))
        await engine.create()
        (key,) = await keys(engine)
        assert await run(engine, SuspendInstance(key)) is None
        await engine.set_clock(START_MS + 3 * 60 * MINUTE)
        await engine.until_value("SUSPENDED", "SELECT state FROM timers")
        fired = engine.timers.stats.fired
        assert await run(engine, ResumeInstance(key)) is None
        await engine.until(lambda: len(engine.ended) == 1)
        assert engine.timers.stats.fired == fired + 1
