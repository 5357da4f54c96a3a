"""Undo on the database: leases that activation gives beside the log end the offer, whenever they are given."""

import pytest
import trio

from tests.core.modification_models import FORKED, command
from tests.engine.whole_engine import WholeEngine
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import SetVariables
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import SuspendInstance
from vivero.core.undos.inverse import inverse_of, operation_of
from vivero.storage.reads.latest_changes import latest_change, taken_job


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
        " || coalesce(suspended_reason, '') FROM process_instances ORDER BY 1, 2"
    )


async def test_each_operation_is_taken_back(engine):
    [other] = await engine.deploy(FORKED.replace(b'"b"', b'"bb"').replace(b">b<", b">bb<"))
    await engine.deploy(FORKED)
    await engine.create("p")
    [[key]] = await engine.rows("SELECT process_instance_key FROM process_instances")
    for change in (
        command(key, "c"),
        SuspendInstance(key, True, "prices"),
        MigrateInstance(key, int(other), (("a", "a"), ("b", "bb"))),
    ):
        before = await seen(engine)
        assert (await engine.run(change)).rejection is None
        assert await seen(engine) != before
        _, undo, again = await offered(engine, key)
        assert await taken_job(engine.connection, undo.untaken) is None
        assert (await engine.run(again)).rejection is None
        assert await seen(engine) == before


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
