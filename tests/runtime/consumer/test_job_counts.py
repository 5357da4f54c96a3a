"""Batches count the jobs that they create, complete and let fail, by type and worker."""

import pytest

from tests.runtime.whole_engine import HEAD, START_MS, EngineBench
from vivero.engine.core.records.instances import CancelInstance
from vivero.engine.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob
from vivero.engine.runtime.consumer.settings import ConsumerSettings
from vivero.storage import activation, clock
from vivero.storage.activation import Ask

WORK = (
    f'{HEAD}<process id="p" isExecutable="true"><startEvent id="start"/><serviceTask id="work"><extensionElements>'
    '<zeebe:taskDefinition type="work" retries="3"/></extensionElements></serviceTask>'
    '<sequenceFlow id="in" sourceRef="start" targetRef="work"/></process></definitions>'
).encode()
COUNTS = """
    SELECT status, worker, sum(jobs)::int FROM counted_jobs WHERE type = 'work' GROUP BY 1, 2 ORDER BY 1, 2"""


@pytest.fixture(params=[0, 48_000_000], ids=["loaded", "in memory"])
async def bench(migrated, connection, request):
    await clock.pin(connection, START_MS)
    bench = EngineBench(migrated, consumer_settings=ConsumerSettings(cache_bytes=request.param))
    async with bench.running():
        await bench.deploy(WORK)
        yield bench


async def leased(connection, worker, count=1):
    """The keys of jobs that a worker has leased."""
    answer = await activation.activate(connection, Ask("work", "<default>", count, 60_000, worker))
    return [lease.job_key for lease in answer.leases]


async def test_jobs_are_counted_with_their_workers(bench, connection):
    await bench.create(count=6)
    assert await bench.rows(COUNTS) == [("CREATED", "", 6)]
    one, two, three = await leased(connection, "ann", 3)
    (four,) = await leased(connection, "bob")
    for command in (CompleteJob(one, {}), CompleteJob(two, {}), CompleteJob(four, {})):
        assert (await bench.run(command)).rejection is None
    assert (await bench.run(FailJob(three, 0, 0, "boom", {}))).rejection is None
    expected = [("COMPLETED", "ann", 2), ("COMPLETED", "bob", 1), ("CREATED", "", 6), ("FAILED", "ann", 1)]
    assert await bench.rows(COUNTS) == expected
    await bench.run(UpdateJob(three, retries=1))
    (five,) = await leased(connection, "ann")
    await bench.run(ThrowJobError(five, "E", None, {}))
    await bench.run(CancelInstance((await bench.rows("SELECT max(process_instance_key) FROM jobs"))[0][0]))
    assert await bench.rows(COUNTS) == [*expected[:3], ("FAILED", "ann", 2)], "neither updates nor cancellations count"


async def test_a_job_that_fails_again_counts_again(bench, connection):
    await bench.create()
    for retries in (2, 1, 0):
        (job,) = await leased(connection, "ann")
        assert (await bench.run(FailJob(job, retries, 0, "boom", {}))).rejection is None
    assert await bench.rows(COUNTS) == [("CREATED", "", 1), ("FAILED", "ann", 3)]
