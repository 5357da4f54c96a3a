"""A partition needs its own rows and nothing else: the rows of the others are hidden from its batches and timers.

What crosses partitions is not here, and works on all of them: the appender (inbox, idempotency keys), the catalogue,
job activation, searches.
"""

import pytest

from tests.core.models import ONE_TASK
from tests.core.partitions.test_interleavings import MODELS
from tests.engine.apart import ApartEngine, separate
from tests.engine.test_several_partitions import CORRELATED_TWICE, OPEN, UNLIKE, Traffic, live
from tests.engine.whole_engine import waits
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.storage.cluster import clock

COUNT = 3


@pytest.fixture
async def engine(migrated):
    await separate(migrated, COUNT)
    async with ApartEngine(migrated, COUNT).running() as engine:
        yield engine


@pytest.mark.long  # tests/storage/distributed/test_layout.py has the same traffic with conditions on the partition
@pytest.mark.parametrize("count", [4])
async def test_random_traffic_works_with_own_rows_alone(engine, seed, count):
    await engine.deploy(*MODELS)
    for one in range(seed, seed + count):
        traffic = Traffic(engine, one)
        for _ in range(150):
            await traffic.step()
        await engine.settled()
        await engine.until(lambda traffic=traffic: set(traffic.positions) <= set(engine.answers))
        assert await engine.rows(CORRELATED_TWICE) == [], f"seed {one}"
        assert await engine.rows(UNLIKE) == [], f"seed {one}"
        while instances := await live(engine):
            for instance in instances:
                await traffic.send(CancelInstance(instance))
            await engine.settled()
        assert await engine.value(OPEN) == 0, f"seed {one}"
    assert await engine.value("SELECT count(*) FROM message_correlations") > 5 * count
    assert engine.errors == []


async def test_the_rows_of_others_are_hidden(engine, migrated):
    """Otherwise the test above would say nothing."""
    await engine.deploy(ONE_TASK)
    for at in range(1, COUNT + 1):
        await engine.run(CreateInstance("p"), at=at)
    for at in range(1, COUNT + 1):
        connection = await engine.connect_of(migrated, at)(name="vivero test")
        for table, key in (
            ("process_instances", "process_instance_key"),
            ("jobs", "job_key"),
            ("event_log", "position"),
        ):
            rows = (await connection.execute(f"SELECT DISTINCT {key} >> 51 FROM {table}")).rows
            assert rows == [(at,)], table
        connection.close()


async def test_jobs_and_timers_of_a_partition(engine):
    await engine.deploy(ONE_TASK, waits("PT1H", id="later"))
    for at in range(1, COUNT + 1):
        for process in ("p", "later"):
            outcome = await engine.run(CreateInstance(process), at=at)
            assert outcome.rejection is None
    for (job,) in await engine.rows("SELECT job_key FROM jobs"):
        assert (await engine.run(CompleteJob(job))).rejection is None
    await clock.shift(engine.connection, 3_600_000)
    await engine.until_value(0, "SELECT count(*) FROM process_instances WHERE ended_at IS NULL")
    assert engine.errors == []
