"""Batches that update jobs: new retries, priorities and ends of leases, each once, and what is skipped or fails."""

import msgspec
import pytest

from tests.engine.batch_operations.batch_engine import BatchEngine, beat
from tests.engine.whole_engine import START_MS
from vivero.core.records.jobs import CompleteJob, FailJob, UpdateJob
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.engine.batch_operations.items import JobUpdatePlan
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.cluster import clock
from vivero.storage.search.candidates import JOBS_PATH
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest
from vivero.storage.work.batch_operations import UPDATE_JOB

SMALL = BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)
MINUTE = 60_000


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    async with BatchEngine(migrated).running() as engine:
        yield engine


async def begin(engine, filter='{"type": "work"}', **changes):
    plan = msgspec.json.encode(JobUpdatePlan(**changes)).decode()
    return await engine.begin(UPDATE_JOB, filter, JOBS_PATH, plan=plan)


async def update(engine, filter='{"type": "work"}', **changes):
    """Run a batch to its end; its counts, and its items."""
    batch = await begin(engine, filter, **changes)
    await engine.work(engine.batches(SMALL))
    return await engine.counts(batch), await engine.items(batch)


async def lease(engine, count=1, timeout_ms=10 * MINUTE):
    ask = ActivationRequest("work", "<default>", count, timeout_ms, "ann")
    return (await activation.activate(engine.connection, ask)).leases


async def jobs(engine, columns):
    rows = await engine.rows(f"SELECT {columns} FROM jobs ORDER BY job_key")
    return [row[0] if len(row) == 1 else row for row in rows]


async def test_open_jobs_get_new_retries_and_priorities_once(engine):
    await engine.instances(8)
    keys = await jobs(engine, "job_key")
    await engine.run(CompleteJob(keys[0]))
    assert (await update(engine, retries=7, priority=-2))[0] == ("COMPLETED", 7, 7, 0, 0, 0)
    assert await jobs(engine, "retries, priority") == [(3, 0), *[(7, -2)] * 7]
    assert await engine.commands(UpdateJob.intent) == dict.fromkeys(keys[1:], 1)


async def test_the_filter_is_that_of_the_search(engine):
    first, *_ = await engine.instances(3)
    keys = await jobs(engine, "job_key")
    await engine.run(FailJob(keys[2], 2, message="no paper"))
    for filter, found in (
        ({"processInstanceKey": str(first)}, [0]),
        ({"jobKey": {"$in": [str(keys[1]), str(keys[2])]}}, [1, 2]),
        ({"errorMessage": {"$like": "*paper"}}, [2]),
        ({"type": "work", "state": "CREATED"}, [0, 1]),
        ({"type": "other"}, []),
    ):
        _, items = await update(engine, msgspec.json.encode(filter).decode(), retries=4)
        assert sorted(items) == [keys[place] for place in found], filter


async def test_a_lease_gets_another_end_and_keeps_its_token(engine):
    await engine.instances(2)
    first, second = await lease(engine, 2)
    changes = {"timeout_ms": MINUTE, "retries": 9}
    assert (await update(engine, f'{{"jobKey": "{first.job_key}"}}', **changes))[0] == ("COMPLETED", 1, 1, 0, 0, 0)
    ends = "to_epoch_ms(available_at), retries, lease_token::text, worker"
    assert await jobs(engine, ends) == [
        (START_MS + MINUTE, 9, first.token, "ann"),
        (START_MS + 10 * MINUTE, 3, second.token, "ann"),
    ]
    assert await activation.next_available_ms(engine.connection, "work", "<default>") == MINUTE
    assert engine.told_available[-1] == ("work", "<default>", 1), "workers that wait learn of the new end"
    assert (await engine.run(CompleteJob(first.job_key, {}, first.token))).rejection is None


async def test_a_job_is_given_to_another_worker_when_its_new_lease_ends(engine):
    await engine.instances(1)
    (first,) = await lease(engine)
    await update(engine, timeout_ms=MINUTE)
    await engine.set_clock(START_MS + MINUTE)
    (second,) = await lease(engine)
    assert (second.job_key, second.token == first.token) == (first.job_key, False)


async def test_without_a_worker_there_is_no_lease_to_change(engine):
    """It is skipped if nothing else was asked for. Otherwise it fails, and nothing of it is changed."""
    await engine.instances(2)
    await lease(engine, 1, timeout_ms=MINUTE)
    await engine.set_clock(START_MS + 2 * MINUTE)  # the lease has ended, and the other job never had one
    counts, items = await update(engine, timeout_ms=MINUTE)
    assert counts == ("COMPLETED", 2, 0, 0, 2, 0)
    reason = "INVALID_STATE: Expected to update the timeout of job with key '{}', but it is not activated"
    assert items == {key: ("SKIPPED", reason.format(key)) for key in items}
    counts, items = await update(engine, timeout_ms=MINUTE, retries=9)
    assert counts == ("FAILED", 2, 0, 2, 0, 0)
    assert items == {key: ("FAILED", reason.format(key)) for key in items}
    assert await jobs(engine, "retries, to_epoch_ms(available_at)") == [(3, START_MS + MINUTE), (3, None)]


async def test_a_job_that_has_ended_meanwhile_is_skipped(engine):
    await engine.instances(3)
    keys = await jobs(engine, "job_key")
    batch = await begin(engine, retries=9)
    batches = engine.batches(SMALL)
    await batches.run_once(engine.connection, beat())
    await engine.run(CompleteJob(keys[1]))
    await engine.work(batches)
    assert await engine.counts(batch) == ("COMPLETED", 3, 2, 0, 1, 0)
    assert (await engine.items(batch))[keys[1]][0] == "SKIPPED"


async def test_jobs_of_suspended_instances_fail_and_keep_their_leases(engine):
    (key,) = await engine.instances(1)
    (held,) = await lease(engine)
    await engine.run(SuspendInstance(key))
    counts, items = await update(engine, timeout_ms=MINUTE)
    assert counts == ("FAILED", 1, 0, 1, 0, 0)
    assert items[held.job_key][1].endswith(f"its process instance with key '{key}' is suspended: resume it first")
    await engine.run(ResumeInstance(key))
    assert await jobs(engine, "to_epoch_ms(available_at)") == [START_MS + 10 * MINUTE]


@pytest.mark.parametrize("retries", [0, 2])
async def test_a_worker_that_fails_before_the_turn_has_no_lease_left(engine, retries):
    """In one batch of the log, too: a failure, and what comes after it."""
    await engine.instances(1)
    (held,) = await lease(engine)
    commands = FailJob(held.job_key, retries, 0, "x", {}, held.token), UpdateJob(held.job_key, timeout_ms=MINUTE)
    failed, updated = await engine.run_together(*commands)
    assert (failed.rejection, updated.rejection.code) == (None, "INVALID_STATE")
    assert await jobs(engine, "ready, to_epoch_ms(available_at), lease_token") == [(retries > 0, None, None)]


async def test_a_failure_after_the_update_releases_the_job(engine):
    await engine.instances(1)
    (held,) = await lease(engine)
    commands = UpdateJob(held.job_key, timeout_ms=MINUTE), FailJob(held.job_key, 2, 0, "x", {}, held.token)
    assert [outcome.rejection for outcome in await engine.run_together(*commands)] == [None, None]
    assert await jobs(engine, "ready, to_epoch_ms(available_at), lease_token") == [(True, None, None)]
