"""Batches that modify: the moves reach each instance, and those without an active source are skipped."""

import msgspec
import pytest

from tests.engine.batch_operations.batch_engine import SCOPED, BatchEngine
from vivero.core.records.modifications import ModifyInstance
from vivero.core.records.suspensions import SuspendInstance
from vivero.engine.batch_operations.items import MigrationPlan, ModificationPlan
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.work.batch_operations import (
    MIGRATE_PROCESS_INSTANCE,
    MODIFY_PROCESS_INSTANCE,
    RESUME_PROCESS_INSTANCE,
)

SMALL = BatchOperationSettings(portion=3, in_flight=3, scan_rows=4)


@pytest.fixture
async def engine(migrated):
    async with BatchEngine(migrated).running() as engine:
        await engine.deploy(SCOPED)
        yield engine


def moves(*pairs):
    return msgspec.json.encode(ModificationPlan(pairs)).decode()


async def alive(engine):
    """Element ids → live instances, without those of the process."""
    rows = await engine.rows(
        "SELECT element_id, count(*)::int FROM element_instances WHERE ended_at IS NULL AND element_type <> 'PROCESS'"
        " GROUP BY 1"
    )
    return dict(rows)


async def test_all_are_modified_once_and_targets_begin_in_the_scopes_of_their_sources(engine):
    keys = await engine.instances(7)
    scopes = await engine.rows("SELECT element_instance_key FROM element_instances WHERE element_id = 's' ORDER BY 1")
    batch = await engine.begin(MODIFY_PROCESS_INSTANCE, plan=moves(("work", "rest")))
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("COMPLETED", 7, 7, 0, 0, 0)
    assert await engine.commands(ModifyInstance.intent) == dict.fromkeys(keys, 1)
    assert await alive(engine) == {"s": 7, "rest": 7}
    assert scopes == await engine.rows(
        "SELECT element_instance_key FROM element_instances WHERE element_id = 's' AND ended_at IS NULL ORDER BY 1"
    )


async def test_moves_without_an_active_source_are_left_out_and_an_instance_without_any_is_skipped(engine):
    first, second, third = await engine.instances(3)
    for key in (first, second):
        await engine.complete(key)
    await engine.complete(second)  # it is at `after`
    batch = await engine.begin(
        MODIFY_PROCESS_INSTANCE, plan=moves(("work", "rest"), ("rest", "work"), ("gone", "work"))
    )
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("COMPLETED", 3, 2, 0, 1, 0)
    assert await engine.items(batch) == {
        first: ("COMPLETED", None),
        second: (
            "SKIPPED",
            "INVALID_ARGUMENT: Expected to modify instance of process 'p' but it contains one or more move instructions"
            " with source elements that have no active instance: 'work', 'rest', 'gone'",
        ),
        third: ("COMPLETED", None),
    }
    assert await alive(engine) == {"s": 2, "work": 1, "rest": 1, "after": 1}


async def test_a_wrong_target_fails_and_skips_nothing(engine):
    await engine.instances(2)
    batch = await engine.begin(MODIFY_PROCESS_INSTANCE, plan=moves(("work", "zz")))
    await engine.work(engine.batches(SMALL))
    assert await engine.counts(batch) == ("FAILED", 2, 0, 2, 0, 0)
    (error,) = {error for _, error in (await engine.items(batch)).values()}
    assert error.endswith("activate instructions with an element that could not be found: 'zz'")


async def test_active_instances_are_selected_whatever_state_the_filter_names(engine):
    active, suspended = await engine.instances(2)
    await engine.run(SuspendInstance(suspended))
    for state in ("ACTIVE", "SUSPENDED", "COMPLETED"):
        filter = msgspec.json.encode({"processDefinitionId": "p", "state": state}).decode()
        batch = await engine.begin(MODIFY_PROCESS_INSTANCE, filter, plan=moves(("work", "work")))
        await engine.work(engine.batches(SMALL))
        assert (await engine.items(batch)).keys() == {active}, state


async def test_an_instance_that_is_in_the_wanted_state_already_is_skipped(engine):
    """Another batch resumes it between the scan and its turn."""
    (key,) = await engine.instances(1)
    await engine.run(SuspendInstance(key))
    batches = [await engine.begin(RESUME_PROCESS_INSTANCE) for _ in range(2)]
    await engine.work(engine.batches(SMALL))
    ends = [end for batch in batches for end in (await engine.items(batch)).values()]
    reason = f"INVALID_STATE: Expected to resume a process instance with key '{key}', but it is not suspended"
    assert sorted(ends) == [("COMPLETED", None), ("SKIPPED", reason)]
    assert [(await engine.counts(batch))[0] for batch in batches] == ["COMPLETED", "COMPLETED"]


async def test_a_migration_selects_active_instances_only(engine):
    active, suspended = await engine.instances(2)
    target = await engine.value("SELECT process_definition_key FROM process_instances LIMIT 1")
    await engine.run(SuspendInstance(suspended))
    plan = msgspec.json.encode(MigrationPlan(target, (("work", "work"),))).decode()
    batch = await engine.begin(MIGRATE_PROCESS_INSTANCE, plan=plan)
    await engine.work(engine.batches(SMALL))
    assert await engine.items(batch) == {active: ("COMPLETED", None)}
