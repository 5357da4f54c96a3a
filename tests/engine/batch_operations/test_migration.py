"""Batches that migrate: the plan reaches each instance, and a refusal fails its item alone."""

import msgspec
import pytest

from tests.core.models import end, process, start, task
from tests.engine.batch_operations.batch_engine import BatchEngine
from vivero.core.records.migrations import MigrateInstance
from vivero.engine.batch_operations.items import MigrationPlan
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.work.batch_operations import MIGRATE_PROCESS_INSTANCE

SMALL = BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)
TARGET = process(start(), task("labour"), task("rest"), end(), "start > labour > rest > end")


@pytest.fixture
async def engine(migrated):
    async with BatchEngine(migrated).running() as engine:
        yield engine


def plan(target, *mappings):
    return msgspec.json.encode(MigrationPlan(target, mappings)).decode()


async def test_all_are_migrated_once(engine):
    keys = await engine.instances(7)
    target = (await engine.deploy(TARGET))[0]
    await engine.run(MigrateInstance(keys[3], target, (("work", "labour"),)))
    before = await engine.commands(MigrateInstance.intent)
    batch = await engine.begin(MIGRATE_PROCESS_INSTANCE, plan=plan(target, ("work", "labour")))
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("COMPLETED", 7, 7, 0, 0, 0)
    assert await engine.commands(MigrateInstance.intent) == before | dict.fromkeys(keys, 1)
    found = await engine.rows("SELECT DISTINCT process_definition_key, process_version FROM process_instances")
    assert found == [(target, 2)]
    found = await engine.rows(
        "SELECT element_id, element_name, process_definition_key, count(*)::int FROM element_instances"
        " WHERE ended_at IS NULL GROUP BY 1, 2, 3"
    )
    assert found == [("labour", "Task labour", target, 7)]
    found = await engine.rows("SELECT DISTINCT element_id, process_definition_key, process_version FROM jobs")
    assert found == [("labour", target, 2)]
    active = "SELECT element_id, sum(active)::int FROM counted_elements GROUP BY 1 HAVING sum(active) <> 0 ORDER BY 1"
    assert await engine.rows(active) == [("", 7), ("labour", 7)]


async def test_a_refusal_fails_its_item_alone(engine):
    keys = await engine.instances(2)
    target = (await engine.deploy(TARGET))[0]
    await engine.run(MigrateInstance(keys[0], target, (("work", "rest"),)))
    source = await engine.value("SELECT min(process_definition_key) FROM process_definitions")
    batch = await engine.begin(MIGRATE_PROCESS_INSTANCE, plan=plan(source, ("rest", "work")))
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("COMPLETED", 2, 2, 0, 0, 0), "the other one has the target"
    batch = await engine.begin(MIGRATE_PROCESS_INSTANCE, plan=plan(target))
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("FAILED", 2, 0, 2, 0, 0)
    assert {error.partition("'")[0] for _, error in (await engine.items(batch)).values()} == {
        "INVALID_STATE: Expected to migrate process instance "
    }


async def test_an_unknown_target_fails_and_skips_nothing(engine):
    await engine.instances(1)
    batch = await engine.begin(MIGRATE_PROCESS_INSTANCE, plan=plan(7, ("work", "work")))
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("FAILED", 1, 0, 1, 0, 0)
