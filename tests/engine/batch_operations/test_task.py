"""Batches of a whole engine: what they change, what they leave, and what their counts say."""

import pytest

from tests.engine.batch_operations.batch_engine import ANN, CANCEL, RESOLVE, BatchEngine, beat, new
from vivero.core.records.instances import CancelInstance, ResolveIncident
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.engine.batch_operations import pace, task
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.engine.batch_operations.task import PAUSE_S
from vivero.engine.outcomes.admission import Overloaded
from vivero.engine.timers.pace import LEAST
from vivero.storage.cluster import clock
from vivero.storage.log.command_log import CommandOutcome
from vivero.storage.postgres import driver
from vivero.storage.work import batch_operations
from vivero.storage.work.batch_operations import RESUME_PROCESS_INSTANCE, SUSPEND_PROCESS_INSTANCE, CallerBounds

SMALL = BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)


@pytest.fixture
async def engine(migrated):
    async with BatchEngine(migrated).running() as engine:
        yield engine


async def test_everything_that_matches_is_cancelled_and_counted(engine):
    keys = await engine.instances(11)
    batch = await engine.begin()
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("COMPLETED", 11, 11, 0, 0, 0)
    assert await engine.items(batch) == dict.fromkeys(keys, ("COMPLETED", None))
    left = await engine.value("SELECT count(*) FROM process_instances WHERE state <> 'TERMINATED'")
    assert left == 0
    assert await engine.commands(CancelInstance.intent) == dict.fromkeys(keys, 1)


async def test_what_begins_after_the_batch_does_not_belong_to_it(engine):
    await clock.pin(engine.connection, 1_900_000_000_000)
    before = await engine.instances(3)
    batch = await engine.begin()
    await clock.pin(engine.connection, 1_900_000_000_001)
    await engine.instances(2)
    await engine.work(engine.batches(SMALL))
    assert (await engine.items(batch)).keys() == set(before)


async def test_an_instance_that_ends_meanwhile_is_skipped_and_its_reason_is_kept(engine):
    keys = await engine.instances(3)
    batch = await engine.begin()
    batches = engine.batches()
    await batches.run_once(engine.connection, beat())
    (job,) = (await engine.rows("SELECT job_key FROM jobs WHERE process_instance_key = $1", keys[0]))[0]
    await engine.run(CompleteJob(job))
    await engine.work(batches)
    assert await engine.counts(batch) == ("COMPLETED", 3, 2, 0, 1, 0)
    state, error = (await engine.items(batch))[keys[0]]
    assert state == "SKIPPED"
    assert error == (
        f"NOT_FOUND: Expected to cancel a process instance with key '{keys[0]}', but no such process was found"
    )


async def test_incidents_are_resolved_and_their_jobs_get_a_retry(engine):
    keys = await engine.instances(5)
    await engine.fail_jobs(keys[:4])
    by_instances = await engine.begin(
        RESOLVE, filter=f'{{"processInstanceKey": {{"$in": ["{keys[0]}", "{keys[1]}"]}}}}'
    )
    by_incidents = await engine.begin(RESOLVE, filter='{"errorType": "JOB_NO_RETRIES"}', resource="incidents")
    await engine.work(engine.batches())
    found = [await engine.counts(batch) for batch in (by_instances, by_incidents)]
    assert [(state, total, failed) for state, total, _, failed, *_ in found] == [("COMPLETED", n, 0) for n in (2, 4)]
    assert sum(completed for _, _, completed, *_ in found) == 4
    assert sum(skipped for *_, skipped, _ in found) == 2, "one of the batches came first"
    assert await engine.value("SELECT count(*) FROM incidents WHERE resolved_at IS NULL") == 0
    retries = await engine.rows(
        "SELECT DISTINCT state, retries FROM jobs WHERE process_instance_key = ANY ($1)", keys[:4]
    )
    assert retries == [("CREATED", 1)]


async def test_a_single_incident_of_a_job_without_retries_is_still_rejected(engine):
    keys = await engine.instances(1)
    await engine.fail_jobs(keys)
    incident = await engine.value("SELECT incident_key FROM incidents")
    assert (await engine.run(ResolveIncident(incident))).rejection is not None
    assert (await engine.run(ResolveIncident(incident, 2))).rejection is None
    assert await engine.value("SELECT retries FROM jobs") == 2


async def test_a_suspended_batch_sends_nothing_and_goes_on_when_it_is_resumed(engine):
    await engine.instances(10)
    batch, batches = await engine.begin(), engine.batches(SMALL)
    await engine.change(batch, "SUSPENDED")
    await engine.work(batches)
    assert await engine.counts(batch) == ("SUSPENDED", 0, 0, 0, 0, 0)
    assert await engine.change(batch, "CREATED")
    while (await engine.counts(batch))[2] < 3:
        await batches.run_once(engine.connection, beat())
    assert await engine.change(batch, "SUSPENDED")
    await engine.work(engine.batches(SMALL))
    _, total, completed, *_ = suspended = await engine.counts(batch)
    assert (suspended[0], total) == ("SUSPENDED", 10)
    assert completed == len(await engine.commands(CancelInstance.intent)) < 10, "what was sent was settled, no more"
    assert await engine.change(batch, "ACTIVE")
    await engine.work(batches)
    assert await engine.counts(batch) == ("COMPLETED", 10, 10, 0, 0, 0)


async def test_the_rest_of_a_cancelled_batch_is_left_alone(engine):
    await engine.instances(10)
    batch, batches = await engine.begin(), engine.batches(SMALL)
    while (await engine.counts(batch))[2] < 3:
        await batches.run_once(engine.connection, beat())
    assert await engine.change(batch, "CANCELED")
    await engine.work(batches)
    state, total, completed, failed, skipped, canceled = await engine.counts(batch)
    assert (state, total, failed, skipped) == ("CANCELED", 10, 0, 0)
    assert completed + canceled == 10
    assert canceled > 0
    assert len(await engine.commands(CancelInstance.intent)) == completed
    assert not await engine.change(batch, "SUSPENDED"), "it has ended"


async def test_a_creator_who_lost_its_rights_changes_nothing_more(engine):
    keys = await engine.instances(4)
    batch = await engine.begin()

    async def only_others(_connection, creator, type):
        assert (creator, type) == (ANN, CANCEL)
        return CallerBounds(None, ("others",))

    await engine.work(engine.batches(SMALL, only_others))
    assert await engine.counts(batch) == ("FAILED", 4, 0, 4, 0, 0)
    assert {error for _, error in (await engine.items(batch)).values()} == {
        "FORBIDDEN: Unauthorized to perform operation 'CANCEL_PROCESS_INSTANCE' on resource 'PROCESS_DEFINITION'"
    }
    assert await engine.commands(CancelInstance.intent) == {}
    assert await engine.value("SELECT count(*) FROM process_instances WHERE state = 'TERMINATED'") == 0
    assert len(keys) == 4


async def test_rights_on_some_tenants_and_processes_bound_what_is_selected(engine):
    keys = await engine.instances(2)
    everywhere = '{"state": "ACTIVE"}'
    for bounds, found in (
        (CallerBounds(("<default>",), ("p",)), set(keys)),
        (CallerBounds(("other",), None), set()),
        (CallerBounds(None, ("q",)), set()),
        (CallerBounds((), ()), set()),
    ):
        batch = await engine.begin(filter=everywhere, bounds=bounds)
        await engine.work(engine.batches())
        assert (await engine.items(batch)).keys() == found
        assert (await engine.counts(batch))[0] == "COMPLETED"


async def test_a_filter_that_cannot_be_evaluated_fails_its_batch(engine):
    batch = await engine.begin(filter='{"nothing": 1}')
    await engine.work(engine.batches())
    assert await engine.counts(batch) == ("FAILED", 0, 0, 0, 0, 0)
    error = await engine.value("SELECT error FROM batch_operations")
    assert "filter.nothing" in error


async def test_a_filter_that_takes_too_long_fails_its_batch(engine, migrated):
    batch = await engine.begin()
    holder = await driver.connect(migrated, name="vivero test holder")
    async with holder.transaction():
        await holder.execute("LOCK TABLE process_instances IN ACCESS EXCLUSIVE MODE")
        await engine.connection.execute("SET statement_timeout = 300")
        await engine.batches(BatchOperationSettings(scan_timeout_s=3)).run_once(engine.connection, beat())
    holder.close()
    await engine.connection.execute("SET statement_timeout = 0")
    assert (await engine.counts(batch))[0] == "FAILED"
    assert await engine.value("SELECT error FROM batch_operations") == "the filter took longer than 3 s: narrow it"


async def test_no_more_commands_are_in_the_log_than_the_pace_allows(engine):
    await engine.instances(8)
    await engine.begin()
    sent = []

    class Counting:
        async def append_all(self, items, *, deadline_s):
            sent.append(len(items))
            return await engine.appender.append_all(items, deadline_s=deadline_s)

    await engine.work(engine.batches(SMALL, appender=Counting()))
    assert sum(sent) == 8
    assert max(sent) <= 3


async def test_what_the_log_does_not_take_is_sent_later(engine):
    await engine.instances(2)
    batch = await engine.begin()
    refusals = iter([True, False])

    class Refusing:
        async def append_all(self, items, *, deadline_s):
            if next(refusals, False):
                raise Overloaded("later")
            return await engine.appender.append_all(items, deadline_s=deadline_s)

    batches = engine.batches(appender=Refusing())
    pauses = [await batches.run_once(engine.connection, beat()) for _ in range(2)]
    assert pauses[-1] > 0, "it waits before it tries again"
    await engine.work(batches)
    assert await engine.counts(batch) == ("COMPLETED", 2, 2, 0, 0, 0)


async def test_batches_take_turns(engine):
    await engine.instances(12)
    first, second = await engine.begin(), await engine.begin()
    batches = engine.batches(SMALL)
    while 0 in [sum((await engine.counts(key))[2:]) for key in (first, second)]:
        assert await batches.run_once(engine.connection, beat()) is not None
    assert {(await engine.counts(key))[0] for key in (first, second)} == {"ACTIVE"}


async def test_beside_others_it_sends_few_and_rests_in_between(engine, monkeypatch):
    monkeypatch.setattr(pace, "COMPANY_S", float("inf"))
    await engine.instances(45)
    batch, batches, rests, most = await engine.begin(), engine.batches(), 0, 0
    last = engine.appender.last_position(1)
    for position in (last, last + 1):
        batches.committed(1, position, [CommandOutcome(position)])  # the second one tells of a command of others
    while (pause_s := await batches.run_once(engine.connection, beat())) is not None:
        state, _, *ended = await engine.counts(batch)
        if state == "COMPLETED":
            break
        rests += pause_s not in (0.0, PAUSE_S)
        most = max(most, len(await engine.commands(CancelInstance.intent)) - sum(ended))
    assert 0 < most < 2 * LEAST
    assert rests >= 3, "after the scan, and after flights"


async def test_beside_others_a_long_scan_does_not_keep_another_batch_from_sending(engine, monkeypatch):
    monkeypatch.setattr(pace, "COMPANY_S", float("inf"))
    monkeypatch.setattr(task, "ROWS_BESIDE", 2)
    await engine.instances(12)
    batch, batches = await engine.begin(), engine.batches()
    await batches.run_once(engine.connection, beat())
    assert await engine.counts(batch) == ("ACTIVE", 12, 0, 0, 0, 0)
    scanning = await engine.begin()
    last = engine.appender.last_position(1)
    for position in (last, last + 1):
        batches.committed(1, position, [CommandOutcome(position)])  # the second one tells of a command of others
    for _ in range(3):
        await batches.run_once(engine.connection, beat())
    assert (await engine.counts(scanning))[0] == "CREATED"
    assert await engine.commands(CancelInstance.intent)


async def test_a_node_of_an_earlier_term_changes_nothing(engine):
    await engine.instances(2)
    batch, batches = await engine.begin(), engine.batches()
    batches.term(engine.epoch - 1)
    for _ in range(3):
        await batches.run_once(engine.connection, beat())
    assert await engine.counts(batch) == ("CREATED", 0, 0, 0, 0, 0)
    batches.term(engine.epoch)
    await engine.work(batches)
    assert (await engine.counts(batch))[0] == "COMPLETED"


async def test_each_change_is_in_the_audit_log_with_its_batch(engine):
    (key,) = await engine.instances(1)
    batch = await engine.begin()
    await engine.work(engine.batches())
    columns = "actor_type, actor_id, entity_type, operation, entity_key, result, process_id, batch_operation_key"
    assert await engine.rows(f"SELECT {columns}, batch_operation_type FROM audit_log") == [
        ("USER", "ann", "PROCESS_INSTANCE", "CANCEL", str(key), "SUCCESS", "p", batch, CANCEL)
    ]


async def test_ended_batches_are_deleted_after_their_time(engine):
    await clock.pin(engine.connection, 1_900_000_000_000)
    await engine.instances(3)
    batch, open_one = await engine.begin(), await engine.begin(filter='{"processDefinitionId": "q"}')
    await engine.change(open_one, "SUSPENDED")
    await engine.work(engine.batches())
    month_ms = 30 * 24 * 3_600_000
    for later_ms, left in ((month_ms, 2), (month_ms + 1, 1)):
        await clock.pin(engine.connection, 1_900_000_000_000 + later_ms)
        await engine.batches().run_once(engine.connection, beat())
        await engine.batches().run_once(engine.connection, beat())
        assert await engine.value("SELECT count(*) FROM batch_operations") == left
    assert await engine.items(batch) == {}


async def test_a_repeated_request_creates_one_batch(engine):
    request = new()
    first = await batch_operations.create(engine.connection, request)
    again = await batch_operations.create(engine.connection, request)
    assert (again.key, again.is_new, again.same_body) == (first.key, False, True)


def test_everything_is_bounded():
    with pytest.raises(ValueError, match="portion <= in_flight"):
        BatchOperationSettings(portion=500)
    with pytest.raises(ValueError, match="ended_days"):
        BatchOperationSettings(ended_days=-1)


async def test_the_active_are_suspended_the_suspended_resumed_and_all_cancelled(engine):
    keys = await engine.instances(4)
    await engine.run(SuspendInstance(keys[0]))
    suspension = await engine.begin(SUSPEND_PROCESS_INSTANCE)
    await engine.work(engine.batches(SMALL))
    assert await engine.items(suspension) == dict.fromkeys(keys[1:], ("COMPLETED", None))
    await engine.run(ResumeInstance(keys[3]))
    resumption = await engine.begin(RESUME_PROCESS_INSTANCE)
    await engine.work(engine.batches(SMALL))
    assert await engine.items(resumption) == dict.fromkeys(keys[:3], ("COMPLETED", None))
    await engine.run(SuspendInstance(keys[0]))
    cancellation = await engine.begin()
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(cancellation) == ("COMPLETED", 4, 4, 0, 0, 0)
