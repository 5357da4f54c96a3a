"""Batches that suspend: the reason reaches each instance and its record, and what starts meanwhile goes on."""

import pytest

from tests.engine.batch_operations.batch_engine import BatchEngine, beat
from vivero.core.records.suspensions import SuspendInstance
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.work.batch_operations import RESUME_PROCESS_INSTANCE, SUSPEND_PROCESS_INSTANCE

SMALL = BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)


@pytest.fixture
async def engine(migrated):
    async with BatchEngine(migrated).running() as engine:
        yield engine


async def suspended(engine):
    rows = await engine.rows(
        "SELECT process_instance_key, suspended_reason FROM process_instances WHERE suspended_at IS NOT NULL"
    )
    return dict(rows)


async def test_running_instances_of_a_definition_are_suspended_for_a_reason(engine):
    keys = await engine.instances(7)
    definition = await engine.value("SELECT process_definition_key FROM process_instances LIMIT 1")
    filter = f'{{"processDefinitionKey": "{definition}"}}'
    batch = await engine.begin(SUSPEND_PROCESS_INSTANCE, filter, plan='{"reason": "a bug"}')
    batches = engine.batches(SMALL)
    await batches.run_once(engine.connection, beat())
    (new,) = await engine.instances(1)
    await engine.work(batches)
    assert await engine.counts(batch) == ("COMPLETED", 7, 7, 0, 0, 0)
    assert await suspended(engine) == dict.fromkeys(keys, "a bug"), f"{new} is newer than the batch"
    assert await engine.commands(SuspendInstance.intent) == dict.fromkeys(keys, 1)
    records = "SELECT description, count(*)::int FROM audit_log WHERE batch_operation_key = $1 GROUP BY 1"
    assert await engine.rows(records, batch) == [(f"batch operation {batch}: a bug", 7)]
    await engine.begin(RESUME_PROCESS_INSTANCE, filter)
    await engine.work(batches)
    assert await suspended(engine) == {}


async def test_a_suspension_needs_no_reason(engine):
    keys = await engine.instances(2)
    with_reason = await engine.begin(
        SUSPEND_PROCESS_INSTANCE, f'{{"processInstanceKey": "{keys[0]}"}}', plan='{"reason": "x"}'
    )
    without = await engine.begin(SUSPEND_PROCESS_INSTANCE, f'{{"processInstanceKey": "{keys[1]}"}}')
    await engine.work(engine.batches(SMALL))
    assert [(await engine.counts(batch))[0] for batch in (with_reason, without)] == ["COMPLETED"] * 2
    assert await suspended(engine) == {keys[0]: "x", keys[1]: None}
