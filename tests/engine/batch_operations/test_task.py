"""Batches of a whole engine: what they change, what they leave, and what their counts say."""

import pytest

from tests.engine.batch_operations.bench import ANN, CANCEL, RESOLVE, BatchBench, beat, new
from vivero.core.records.instances import CancelInstance, ResolveIncident
from vivero.core.records.jobs import CompleteJob
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.outcomes.admission import Overloaded
from vivero.storage.cluster import clock
from vivero.storage.postgres import driver
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import CallerBounds

SMALL = BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)


@pytest.fixture
async def bench(migrated):
    async with BatchBench(migrated).running() as bench:
        yield bench


async def test_everything_that_matches_is_cancelled_and_counted(bench):
    keys = await bench.instances(11)
    batch = await bench.begin()
    await bench.work(bench.batches(SMALL))
    assert await bench.counts(batch) == ("COMPLETED", 11, 11, 0, 0, 0)
    assert await bench.items(batch) == dict.fromkeys(keys, ("COMPLETED", None))
    left = await bench.value("SELECT count(*) FROM process_instances WHERE state <> 'TERMINATED'")
    assert left == 0
    assert await bench.commands(CancelInstance.intent) == dict.fromkeys(keys, 1)


async def test_what_begins_after_the_batch_does_not_belong_to_it(bench):
    await clock.pin(bench.connection, 1_900_000_000_000)
    before = await bench.instances(3)
    batch = await bench.begin()
    await clock.pin(bench.connection, 1_900_000_000_001)
    await bench.instances(2)
    await bench.work(bench.batches(SMALL))
    assert (await bench.items(batch)).keys() == set(before)


async def test_an_instance_that_ends_meanwhile_is_skipped_and_its_reason_is_kept(bench):
    keys = await bench.instances(3)
    batch = await bench.begin()
    batches = bench.batches()
    await batches.run_once(bench.connection, beat())
    (job,) = (await bench.rows("SELECT job_key FROM jobs WHERE process_instance_key = $1", keys[0]))[0]
    await bench.run(CompleteJob(job))
    await bench.work(batches)
    assert await bench.counts(batch) == ("COMPLETED", 3, 2, 0, 1, 0)
    state, error = (await bench.items(batch))[keys[0]]
    assert state == "SKIPPED"
    assert error == (
        f"NOT_FOUND: Expected to cancel a process instance with key '{keys[0]}', but no such process was found"
    )


async def test_incidents_are_resolved_and_their_jobs_get_a_retry(bench):
    keys = await bench.instances(5)
    await bench.fail_jobs(keys[:4])
    by_instances = await bench.begin(RESOLVE, filter=f'{{"processInstanceKey": {{"$in": ["{keys[0]}", "{keys[1]}"]}}}}')
    by_incidents = await bench.begin(RESOLVE, filter='{"errorType": "JOB_NO_RETRIES"}', resource="incidents")
    await bench.work(bench.batches())
    found = [await bench.counts(batch) for batch in (by_instances, by_incidents)]
    assert [(state, total, failed) for state, total, _, failed, *_ in found] == [("COMPLETED", n, 0) for n in (2, 4)]
    assert sum(completed for _, _, completed, *_ in found) == 4
    assert sum(skipped for *_, skipped, _ in found) == 2, "one of the batches came first"
    assert await bench.value("SELECT count(*) FROM incidents WHERE resolved_at IS NULL") == 0
    retries = await bench.rows(
        "SELECT DISTINCT state, retries FROM jobs WHERE process_instance_key = ANY ($1)", keys[:4]
    )
    assert retries == [("CREATED", 1)]


async def test_a_single_incident_of_a_job_without_retries_is_still_rejected(bench):
    keys = await bench.instances(1)
    await bench.fail_jobs(keys)
    incident = await bench.value("SELECT incident_key FROM incidents")
    assert (await bench.run(ResolveIncident(incident))).rejection is not None
    assert (await bench.run(ResolveIncident(incident, 2))).rejection is None
    assert await bench.value("SELECT retries FROM jobs") == 2


async def test_a_suspended_batch_sends_nothing_and_goes_on_when_it_is_resumed(bench):
    await bench.instances(10)
    batch, batches = await bench.begin(), bench.batches(SMALL)
    await bench.change(batch, "SUSPENDED")
    await bench.work(batches)
    assert await bench.counts(batch) == ("SUSPENDED", 0, 0, 0, 0, 0)
    assert await bench.change(batch, "CREATED")
    while (await bench.counts(batch))[2] < 3:
        await batches.run_once(bench.connection, beat())
    assert await bench.change(batch, "SUSPENDED")
    await bench.work(bench.batches(SMALL))
    _, total, completed, *_ = suspended = await bench.counts(batch)
    assert (suspended[0], total) == ("SUSPENDED", 10)
    assert completed == len(await bench.commands(CancelInstance.intent)) < 10, "what was sent was settled, no more"
    assert await bench.change(batch, "ACTIVE")
    await bench.work(batches)
    assert await bench.counts(batch) == ("COMPLETED", 10, 10, 0, 0, 0)


async def test_the_rest_of_a_cancelled_batch_is_left_alone(bench):
    await bench.instances(10)
    batch, batches = await bench.begin(), bench.batches(SMALL)
    while (await bench.counts(batch))[2] < 3:
        await batches.run_once(bench.connection, beat())
    assert await bench.change(batch, "CANCELED")
    await bench.work(batches)
    state, total, completed, failed, skipped, canceled = await bench.counts(batch)
    assert (state, total, failed, skipped) == ("CANCELED", 10, 0, 0)
    assert completed + canceled == 10
    assert canceled > 0
    assert len(await bench.commands(CancelInstance.intent)) == completed
    assert not await bench.change(batch, "SUSPENDED"), "it has ended"


async def test_a_creator_who_lost_its_rights_changes_nothing_more(bench):
    keys = await bench.instances(4)
    batch = await bench.begin()

    async def only_others(_connection, creator, type):
        assert (creator, type) == (ANN, CANCEL)
        return CallerBounds(None, ("others",))

    await bench.work(bench.batches(SMALL, only_others))
    assert await bench.counts(batch) == ("FAILED", 4, 0, 4, 0, 0)
    assert {error for _, error in (await bench.items(batch)).values()} == {
        "FORBIDDEN: Unauthorized to perform operation 'CANCEL_PROCESS_INSTANCE' on resource 'PROCESS_DEFINITION'"
    }
    assert await bench.commands(CancelInstance.intent) == {}
    assert await bench.value("SELECT count(*) FROM process_instances WHERE state = 'TERMINATED'") == 0
    assert len(keys) == 4


async def test_rights_on_some_tenants_and_processes_bound_what_is_selected(bench):
    keys = await bench.instances(2)
    everywhere = '{"state": "ACTIVE"}'
    for bounds, found in (
        (CallerBounds(("<default>",), ("p",)), set(keys)),
        (CallerBounds(("other",), None), set()),
        (CallerBounds(None, ("q",)), set()),
        (CallerBounds((), ()), set()),
    ):
        batch = await bench.begin(filter=everywhere, bounds=bounds)
        await bench.work(bench.batches())
        assert (await bench.items(batch)).keys() == found
        assert (await bench.counts(batch))[0] == "COMPLETED"


async def test_a_filter_that_cannot_be_evaluated_fails_its_batch(bench):
    batch = await bench.begin(filter='{"nothing": 1}')
    await bench.work(bench.batches())
    assert await bench.counts(batch) == ("FAILED", 0, 0, 0, 0, 0)
    error = await bench.value("SELECT error FROM batch_operations")
    assert "filter.nothing" in error


async def test_a_filter_that_takes_too_long_fails_its_batch(bench, migrated):
    batch = await bench.begin()
    holder = await driver.connect(migrated, name="vivero test holder")
    async with holder.transaction():
        await holder.execute("LOCK TABLE process_instances IN ACCESS EXCLUSIVE MODE")
        await bench.connection.execute("SET statement_timeout = 300")
        await bench.batches(BatchOperationSettings(scan_timeout_s=3)).run_once(bench.connection, beat())
    holder.close()
    await bench.connection.execute("SET statement_timeout = 0")
    assert (await bench.counts(batch))[0] == "FAILED"
    assert await bench.value("SELECT error FROM batch_operations") == "the filter took longer than 3 s: narrow it"


async def test_no_more_commands_are_in_the_log_than_the_pace_allows(bench):
    await bench.instances(8)
    await bench.begin()
    sent = []

    class Counting:
        async def append_all(self, items, *, deadline_s):
            sent.append(len(items))
            return await bench.appender.append_all(items, deadline_s=deadline_s)

    await bench.work(bench.batches(SMALL, appender=Counting()))
    assert sum(sent) == 8
    assert max(sent) <= 3


async def test_what_the_log_does_not_take_is_sent_later(bench):
    await bench.instances(2)
    batch = await bench.begin()
    refusals = iter([True, False])

    class Refusing:
        async def append_all(self, items, *, deadline_s):
            if next(refusals, False):
                raise Overloaded("later")
            return await bench.appender.append_all(items, deadline_s=deadline_s)

    batches = bench.batches(appender=Refusing())
    pauses = [await batches.run_once(bench.connection, beat()) for _ in range(2)]
    assert pauses[-1] > 0, "it waits before it tries again"
    await bench.work(batches)
    assert await bench.counts(batch) == ("COMPLETED", 2, 2, 0, 0, 0)


async def test_batches_take_turns(bench):
    await bench.instances(12)
    first, second = await bench.begin(), await bench.begin()
    batches = bench.batches(SMALL)
    while 0 in [sum((await bench.counts(key))[2:]) for key in (first, second)]:
        assert await batches.run_once(bench.connection, beat()) is not None
    assert {(await bench.counts(key))[0] for key in (first, second)} == {"ACTIVE"}


async def test_a_node_of_an_earlier_term_changes_nothing(bench):
    await bench.instances(2)
    batch, batches = await bench.begin(), bench.batches()
    batches.term(bench.epoch - 1)
    for _ in range(3):
        await batches.run_once(bench.connection, beat())
    assert await bench.counts(batch) == ("CREATED", 0, 0, 0, 0, 0)
    batches.term(bench.epoch)
    await bench.work(batches)
    assert (await bench.counts(batch))[0] == "COMPLETED"


async def test_each_change_is_in_the_audit_log_with_its_batch(bench):
    (key,) = await bench.instances(1)
    batch = await bench.begin()
    await bench.work(bench.batches())
    columns = "actor_type, actor_id, entity_type, operation, entity_key, result, process_id, batch_operation_key"
    assert await bench.rows(f"SELECT {columns}, batch_operation_type FROM audit_log") == [
        ("USER", "ann", "PROCESS_INSTANCE", "CANCEL", str(key), "SUCCESS", "p", batch, CANCEL)
    ]


async def test_ended_batches_are_deleted_after_their_time(bench):
    await clock.pin(bench.connection, 1_900_000_000_000)
    await bench.instances(3)
    batch, open_one = await bench.begin(), await bench.begin(filter='{"processDefinitionId": "q"}')
    await bench.change(open_one, "SUSPENDED")
    await bench.work(bench.batches())
    month_ms = 30 * 24 * 3_600_000
    for later_ms, left in ((month_ms, 2), (month_ms + 1, 1)):
        await clock.pin(bench.connection, 1_900_000_000_000 + later_ms)
        await bench.batches().run_once(bench.connection, beat())
        await bench.batches().run_once(bench.connection, beat())
        assert await bench.value("SELECT count(*) FROM batch_operations") == left
    assert await bench.items(batch) == {}


async def test_a_repeated_request_creates_one_batch(bench):
    request = new()
    first = await batch_operations.create(bench.connection, request)
    again = await batch_operations.create(bench.connection, request)
    assert (again.key, again.is_new, again.same_body) == (first.key, False, True)


def test_everything_is_bounded():
    with pytest.raises(ValueError, match="portion <= in_flight"):
        BatchOperationSettings(portion=500)
    with pytest.raises(ValueError, match="ended_days"):
        BatchOperationSettings(ended_days=-1)
