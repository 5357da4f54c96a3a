"""Undo on the database: leases that activation gives beside the log end the offer, whenever they are given."""

import pytest
import trio

from tests.core.event_models import boundary, model
from tests.core.events.test_timers import timer
from tests.core.message_models import message, receive
from tests.core.models import end, start, sub, task
from tests.core.modification_models import FORKED, command, move
from tests.core.undos.shapes import shape_of
from tests.engine.whole_engine import WholeEngine
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, SetVariables
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import InstanceResumed, InstanceSuspended, ResumeInstance, SuspendInstance
from vivero.core.snapshots.codec import encode
from vivero.core.undos.inverse import inverse_of, operation_of
from vivero.storage.reads.latest_changes import HasEnded, job_with_worker, latest_change, taken_job
from vivero.storage.state.snapshots import ONE_MOMENT, read_live_tree
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest


@pytest.fixture
async def engine(migrated):
    async with WholeEngine(migrated).running() as engine:
        yield engine


async def offered(engine, key):
    """The operation, and the command that takes it back."""
    change = await latest_change(engine.connection, key)
    assert change.is_whole
    operation = operation_of(change.events, key)
    undo = inverse_of(operation, change.events, key, change.around)
    return operation, undo, conditional(undo.command, key, (change.version,), undo.untaken)


async def seen(engine):
    """Elements, jobs and the instance that are alive."""
    return await engine.rows(
        "SELECT 'e', element_instance_key, element_id, process_definition_key, state FROM element_instances"
        " WHERE ended_at IS NULL UNION ALL"
        " SELECT 'j', job_key, element_id, process_definition_key, state || ready FROM jobs WHERE ended_at IS NULL"
        " UNION ALL SELECT 'p', process_instance_key, process_id, process_definition_key, state || tokens::text"
        " || coalesce(suspended_reason, business_id, '') FROM process_instances ORDER BY 1, 2"
    )


async def test_each_operation_is_taken_back(engine):
    [other] = await engine.deploy(FORKED.replace(b'"b"', b'"bb"').replace(b">b<", b">bb<"))
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    for change in (
        command(key, "c"),
        SuspendInstance(key, True, "prices"),
        AssignBusinessId(key, "order-7"),
        MigrateInstance(key, int(other), (("a", "a"), ("b", "bb"))),
    ):
        before = await seen(engine)
        assert (await engine.run(change)).rejection is None
        assert await seen(engine) != before
        _, undo, again = await offered(engine, key)
        assert await taken_job(engine.connection, undo.untaken) is None
        assert (await engine.run(again)).rejection is None
        assert await seen(engine) == before


async def shape(engine, key):
    """The live rows of the tables, without keys."""
    async with engine.connection.transaction(ONE_MOMENT):
        tree = await read_live_tree(engine.connection, key)
        assert tree is not None
        return shape_of(encode(await tree.snapshot()))


MOVABLE = model(
    *(start(), sub("s", start("i"), task("a"), "i > a"), boundary("late", "s", timer("timeDuration", "PT1H"))),
    *(receive("wait"), end(), task("b"), "start > s > wait > end", "late > b"),
    beside=(message("paid"),),
)


async def test_what_a_modification_terminated_begins_again_in_the_tables(engine):
    await engine.deploy(MOVABLE)
    await engine.create("p", k="1")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    [[due]] = await engine.rows("SELECT due_at_ms FROM timers WHERE ended_at IS NULL")
    before = await shape(engine, key)
    for change in (command(key, move("s", "b")), command(key, move("a", "wait"))):
        assert (await engine.run(change)).rejection is None
        moved = await shape(engine, key)
        assert await job_with_worker(engine.connection, (await offered(engine, key))[1].never_taken) is None
        for expected in (before, moved, before):  # the undo, the undo of the undo, and the undo of that
            _, _, again = await offered(engine, key)
            assert (await engine.run(again)).rejection is None
            assert await shape(engine, key) == expected
    assert await engine.rows("SELECT due_at_ms FROM timers WHERE ended_at IS NULL") == [(due,)]
    counts = "SELECT sum(active)::int, sum(canceled)::int FROM counted_elements WHERE element_id = 'a'"
    assert await engine.rows(counts) == [(1, 4)]
    [[job]] = await engine.rows("SELECT job_key FROM jobs WHERE type = 'a' AND ended_at IS NULL")
    assert (await engine.run(CompleteJob(job))).rejection is None
    assert (await engine.run(PublishMessage("paid", "1", 0, None, {}))).rejection is None
    await engine.until_value("COMPLETED", "SELECT state FROM process_instances")


async def test_a_terminated_job_that_a_worker_had_is_not_restored(engine):
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    request = ActivationRequest("a", "<default>", 1, 60_000, "w")
    (leased,) = (await activation.activate(engine.connection, request)).leases
    assert (await engine.run(command(key, move("a", "c")))).rejection is None
    _, undo, _ = await offered(engine, key)
    assert await job_with_worker(engine.connection, undo.never_taken) == leased.job_key


async def test_of_two_undos_at_once_one_restores(engine):
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    assert (await engine.run(command(key, move("a", "c")))).rejection is None
    _, _, again = await offered(engine, key)
    one, other = await engine.run_together(again, again)
    assert one.rejection is None
    assert other.rejection.code is RejectionCode.PRECONDITION_FAILED
    assert await engine.rows("SELECT count(*)::int FROM jobs WHERE type = 'a' AND ended_at IS NULL") == [(1,)]


async def test_a_lease_between_the_offer_and_the_undo_refuses(engine):
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    assert (await engine.run(command(key, "c"))).rejection is None
    operation, undo, again = await offered(engine, key)
    [job] = undo.untaken
    await engine.connection.execute("UPDATE jobs SET lease_token = gen_random_uuid() WHERE job_key = $1", [job])
    outcome = await engine.run(again)
    assert outcome.rejection.code is RejectionCode.INVALID_STATE
    assert outcome.rejection.reason.endswith(f"but a worker has got job '{job}'")
    assert await taken_job(engine.connection, undo.untaken) == job
    assert operation == "MODIFY"


async def test_a_lease_between_the_read_of_leases_and_the_commit_refuses(engine, connect):
    """The activation holds the row, and its lease becomes visible only after the batch has read the leases."""
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    assert (await engine.run(command(key, "c"))).rejection is None
    _, undo, again = await offered(engine, key)
    [job] = undo.untaken
    worker, answers = await connect(), []

    async def run():
        answers.append(await engine.run(again))

    async def waiting():
        locks = "SELECT count(*)::int FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
        return (await engine.rows(locks))[0][0]

    async with trio.open_nursery() as nursery:
        await worker.execute("BEGIN")
        await worker.execute("UPDATE jobs SET lease_token = gen_random_uuid() WHERE job_key = $1", [job])
        nursery.start_soon(run)
        with trio.fail_after(20):
            while not await waiting():
                await trio.lowlevel.checkpoint()
        await worker.execute("COMMIT")
    [outcome] = answers
    assert outcome.rejection.code is RejectionCode.INVALID_STATE
    assert outcome.rejection.reason.endswith(f"but a worker has got job '{job}'")
    assert await engine.rows("SELECT FROM jobs WHERE job_key = $1 AND ended_at IS NULL", job), "nothing has happened"
    assert (await engine.run(SetVariables(key, {}))).rejection is None, "the log goes on"


@pytest.mark.parametrize("again", [False, True])
async def test_of_commands_that_share_a_position_the_last_one_is_the_change(engine, again):
    """Those that a migration has held may: each follows from its own request. The position may be that of another
    instance's command. `again`: a consequence of the second one comes last, before the answer to the first one."""
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    for change in (SuspendInstance(key, reason="prices"), ResumeInstance(key), SuspendInstance(key, reason="tax")):
        assert (await engine.run(change)).rejection is None
    await engine.rows(
        "UPDATE event_log SET position = last.position, request = event_log.position, seq = event_log.position -"
        " last.position + 3 FROM (SELECT max(position) AS position FROM event_log) last WHERE root_key = $1"
        " AND event_log.position > last.position - 3",
        key,
    )
    copied = (
        "INSERT INTO event_log (partition_id, position, seq, root_key, request, events, version, processed_at)"
        " SELECT partition_id, position, $3, root_key, request, coalesce($4, events), version, processed_at"
        " FROM event_log WHERE root_key = $1 AND position = (SELECT max(position) FROM event_log) AND seq = $2"
    )
    if again:
        await engine.rows(copied, key, 2, 4, None)
    await engine.rows(copied, key, 1, 5, "[]")
    found = await latest_change(engine.connection, key)
    kinds = [type(event) for event in found.events]
    assert kinds == ([InstanceResumed] if again else [InstanceSuspended])
    earlier = [event.reason for event in found.around.earlier if isinstance(event, InstanceSuspended)]
    assert earlier == (["prices", "tax"] if again else ["prices"])


async def test_an_instance_that_ends_before_the_undo_is_not_found(engine):
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    assert (await engine.run(SuspendInstance(key))).rejection is None
    _, _, again = await offered(engine, key)
    assert (await engine.run(CancelInstance(key))).rejection is None
    assert (await engine.run(again)).rejection.code is RejectionCode.NOT_FOUND
    with pytest.raises(HasEnded):
        await latest_change(engine.connection, key)


async def test_a_second_undo_finds_another_version(engine):
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    assert (await engine.run(command(key, "c"))).rejection is None
    _, _, again = await offered(engine, key)
    assert (await engine.run(again)).rejection is None
    assert (await engine.run(again)).rejection.code is RejectionCode.PRECONDITION_FAILED
    change = await latest_change(engine.connection, key)
    assert operation_of(change.events, key) == "MODIFY"
    assert await latest_change(engine.connection, key + 1) is None
