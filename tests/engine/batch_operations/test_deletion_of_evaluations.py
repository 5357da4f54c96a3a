"""A batch operation that deletes evaluations of decisions: each as a whole, and once, whatever is killed."""

import random

import pytest

from tests.core.decision_models import prices
from tests.engine.batch_operations.batch_engine import BatchEngine, beat
from tests.engine.batch_operations.test_deletion import survive
from tests.engine.consumer.test_decision_evaluations import TASK, values
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.instances import CreateInstance
from vivero.engine.batch_operations.settings import BatchOperationSettings
from vivero.storage.retention import history
from vivero.storage.work.batch_operations import DELETE_DECISION_INSTANCE, DELETE_PROCESS_INSTANCE, CallerBounds

EVERYTHING = '{"state": {"$in": ["EVALUATED", "FAILED"]}}'
KEPT = "SELECT DISTINCT decision_evaluation_key FROM decision_instances ORDER BY 1"


@pytest.fixture
async def engine(migrated):
    async with BatchEngine(migrated).running() as engine:
        await engine.deploy_together({"shop.dmn": prices()})
        yield engine


async def evaluated(engine, id="Price", count=1):
    """The keys of evaluations. One of `Price` takes `Discount`, too."""
    for _ in range(count):
        await engine.run(EvaluateDecision(id, variables=values(total=200, customer="gold")))
    rows = await engine.rows(KEPT.replace("ORDER BY 1", "ORDER BY 1 DESC LIMIT $1"), count)
    return sorted(key for (key,) in rows)


async def begin(engine, filter=EVERYTHING, **more):
    return await engine.begin(DELETE_DECISION_INSTANCE, filter, "decision-instances", **more)


async def kept(engine):
    return [key for (key,) in await engine.rows(KEPT)]


async def in_a_process(engine):
    """The key of an instance with an evaluation, which has ended; and the evaluation's."""
    await engine.deploy(TASK)
    await engine.run(CreateInstance("p", variables=values(total=200, customer="gold")))
    return (await engine.rows("SELECT DISTINCT process_instance_key, decision_evaluation_key FROM decision_instances"))[
        0
    ]


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
async def test_each_evaluation_is_one_item_and_goes_as_a_whole(engine, rows):
    """Also when a portion of the scan ends between its rows."""
    keys, other = await evaluated(engine, count=3), await evaluated(engine, "Discount")
    batch = await begin(engine, '{"decisionDefinitionId": "Price"}' if rows == 1 else EVERYTHING)
    await engine.work(engine.batches(BatchOperationSettings(portion=2, scan_rows=rows)))
    gone = keys if rows == 1 else [*keys, *other]
    assert await engine.counts(batch) == ("COMPLETED", len(gone), len(gone), 0, 0, 0)
    assert await engine.items(batch) == dict.fromkeys(gone, ("COMPLETED", None))
    assert await kept(engine) == [key for key in other if key not in gone]
    recorded = (
        "SELECT entity_type, entity_key::bigint, operation, result, tenant_id, batch_operation_key FROM audit_log"
    )
    assert await engine.rows(f"{recorded} ORDER BY 2") == [
        ("DECISION", key, "DELETE", "SUCCESS", "<default>", batch) for key in gone
    ]


async def test_a_range_of_time_is_scanned_in_its_order(engine):
    """The later the evaluation, the earlier its time; several have the same time."""
    keys = await evaluated(engine, count=5)
    for number, key in enumerate(keys):
        at = f"2001-01-0{5 - number // 2}"
        await engine.rows(
            "UPDATE decision_instances SET evaluated_at = $2::timestamptz WHERE decision_evaluation_key = $1", key, at
        )
    batch = await begin(engine, '{"evaluationDate": {"$gte": "2001-01-04T00:00:00Z"}}')
    await engine.work(engine.batches(BatchOperationSettings(scan_rows=1)))
    assert await engine.counts(batch) == ("COMPLETED", 4, 4, 0, 0, 0)
    assert await kept(engine) == keys[4:]


async def test_evaluations_with_a_decision_of_others_are_not_selected(engine):
    """`Price` takes `Discount`, which the caller may change, and is no decision of the caller."""
    await evaluated(engine, count=2)
    (own,) = await evaluated(engine, "Discount")
    batch = await begin(engine, bounds=CallerBounds(None, ("Discount",)))
    await engine.work(engine.batches())
    assert await engine.items(batch) == {own: ("COMPLETED", None)}
    assert len(await kept(engine)) == 2
    assert await engine.counts(await begin(engine, bounds=CallerBounds(("other",)))) == ("CREATED", 0, 0, 0, 0, 0)
    await engine.work(engine.batches())
    assert len(await kept(engine)) == 2


@pytest.mark.parametrize("left", [(), ("Discount",), ("Price",)])
async def test_a_right_that_is_lost_meanwhile_fails_the_items(engine, left):
    async def lost(_connection, _creator, type):
        assert type == DELETE_DECISION_INSTANCE
        return CallerBounds(None, left)

    keys = await evaluated(engine, count=2)
    batch = await begin(engine)
    await engine.work(engine.batches(rights=lost))
    text = "FORBIDDEN: Unauthorized to perform operation 'DELETE_DECISION_INSTANCE' on resource 'DECISION_DEFINITION'"
    assert await engine.items(batch) == dict.fromkeys(keys, ("FAILED", text))
    assert await kept(engine) == keys


async def test_what_is_gone_is_skipped(engine):
    first, second = await evaluated(engine, count=2)
    batch = await begin(engine)
    batches = engine.batches()
    await batches.run_once(engine.connection, beat())
    await engine.rows("DELETE FROM decision_instances WHERE decision_evaluation_key = $1", first)
    await engine.work(batches)
    assert await engine.items(batch) == {
        first: ("SKIPPED", f"NOT_FOUND: there is no decision evaluation with key '{first}'"),
        second: ("COMPLETED", None),
    }


async def test_evaluations_of_tasks_go_without_their_instances_and_hold_none(engine):
    """The archive is of no matter: it has instances. An item that waits does not keep its instance."""
    instance, evaluation = await in_a_process(engine)
    (of_client,) = await evaluated(engine)

    async def no_archive(_keys):
        raise AssertionError("evaluations are not archived")

    batch = await begin(engine)
    batches = engine.batches(before_deletion=no_archive)
    await batches.run_once(engine.connection, beat())
    items = "SELECT item_key, process_instance_key, root_key FROM batch_operation_items ORDER BY 1"
    assert await engine.rows(items) == [(evaluation, instance, instance), (of_client, None, None)]
    await engine.rows("BEGIN")
    assert await history.delete_trees(engine.connection, [instance], history.REQUEST) == {instance: history.DELETED}
    await engine.rows("ROLLBACK")
    await engine.work(batches)
    assert await engine.counts(batch) == ("COMPLETED", 2, 2, 0, 0, 0)
    assert await kept(engine) == []
    batch = await engine.begin(DELETE_PROCESS_INSTANCE)
    await engine.work(engine.batches())
    assert (await engine.counts(batch))[:3] == ("COMPLETED", 1, 1)


@pytest.mark.parametrize("round", range(2))
async def test_random_kills_lose_and_double_nothing(engine, seed, round):
    rng = random.Random(seed + round)
    keys = await evaluated(engine, count=rng.randint(2, 6))
    batch = await begin(engine)
    await survive(engine, rng)
    assert await engine.counts(batch) == ("COMPLETED", len(keys), len(keys), 0, 0, 0)
    assert await kept(engine) == []
    assert await engine.value("SELECT count(*) FROM audit_log") == len(keys)
