"""Batches count the jobs that they create, complete and let fail, by type and worker."""

import pytest

from tests.engine.whole_engine import HEAD, START_MS, WholeEngine
from vivero.core.records.instances import CancelInstance, ResolveIncident
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import clock
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest

WORK = (
    f'{HEAD}<process id="p" isExecutable="true"><startEvent id="start"/><serviceTask id="work"><extensionElements>'
    '<zeebe:taskDefinition type="work" retries="3"/></extensionElements></serviceTask>'
    '<sequenceFlow id="in" sourceRef="start" targetRef="work"/></process></definitions>'
).encode()
COUNTS = """
    SELECT status, worker, sum(jobs)::int FROM counted_jobs WHERE type = 'work' GROUP BY 1, 2 ORDER BY 1, 2"""


@pytest.fixture(params=[0, 48_000_000], ids=["loaded", "in memory"])
async def engine(migrated, connection, request):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=request.param))
    async with engine.running():
        await engine.deploy(WORK)
        yield engine


async def leased(connection, worker, count=1):
    """The keys of jobs that a worker has leased."""
    answer = await activation.activate(connection, ActivationRequest("work", "<default>", count, 60_000, worker))
    return [lease.job_key for lease in answer.leases]


async def test_jobs_are_counted_with_their_workers(engine, connection):
    await engine.create(count=6)
    assert await engine.rows(COUNTS) == [("CREATED", "", 6)]
    one, two, three = await leased(connection, "ann", 3)
    (four,) = await leased(connection, "bob")
    for command in (CompleteJob(one, {}), CompleteJob(two, {}), CompleteJob(four, {})):
        assert (await engine.run(command)).rejection is None
    assert (await engine.run(FailJob(three, 0, 0, "boom", {}))).rejection is None
    expected = [("COMPLETED", "ann", 2), ("COMPLETED", "bob", 1), ("CREATED", "", 6), ("FAILED", "ann", 1)]
    assert await engine.rows(COUNTS) == expected
    await engine.run(UpdateJob(three, retries=1))
    (five,) = await leased(connection, "ann")
    await engine.run(ThrowJobError(five, "E", None, {}))
    await engine.run(CancelInstance((await engine.rows("SELECT max(process_instance_key) FROM jobs"))[0][0]))
    assert await engine.rows(COUNTS) == [*expected[:3], ("FAILED", "ann", 2)], "neither updates nor cancellations count"


async def test_a_job_that_fails_again_counts_again(engine, connection):
    await engine.create()
    for retries in (2, 1, 0):
        (job,) = await leased(connection, "ann")
        assert (await engine.run(FailJob(job, retries, 0, "boom", {}))).rejection is None
    assert await engine.rows(COUNTS) == [("CREATED", "", 1), ("FAILED", "ann", 3)]


async def test_metrics_count_what_happens_to_jobs_and_incidents(engine, connection):
    """A request of a user is counted once, and so is each need of a row, in memory or not."""
    await engine.create(count=5)
    one, two, three = await leased(connection, "ann", 3)
    for command in (CompleteJob(one, {}), FailJob(two, 0, 0, "boom", {}), ThrowJobError(three, "E", None, {})):
        assert (await engine.run(command)).rejection is None
    assert (await engine.run(CompleteJob(one, {}))).rejection is not None
    await engine.run(CancelInstance((await engine.rows("SELECT max(process_instance_key) FROM jobs"))[0][0]))
    incident = (await engine.rows("SELECT incident_key FROM incidents WHERE type = 'JOB_NO_RETRIES'"))[0][0]
    await engine.run(UpdateJob(two, retries=1))
    await engine.run(ResolveIncident(incident))
    stats = engine.consumer.stats
    events = {"created": 5, "completed": 1, "failed": 1, "error": 1, "canceled": 1}
    assert stats.jobs.counts == {(event, "work"): count for event, count in events.items()}
    raised = {("raised", "JOB_NO_RETRIES"): 1, ("raised", "UNHANDLED_ERROR_EVENT"): 1}
    assert stats.incidents == raised | {("resolved", "JOB_NO_RETRIES"): 1}
    assert stats.looked_up == (7 if engine.consumer.settings.cache_bytes == 0 else 1), (
        "a job that ended is in no memory"
    )
    assert stats.found + stats.looked_up == 7
    cached = engine.consumer.partition_duty.cached()
    assert (cached.instances > 0) == (cached.bytes > 0)
