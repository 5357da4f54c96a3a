"""Business ids on PostgreSQL: the rows carry what their instance had when they began, in whichever batch that was."""

import pytest

from tests.core.elements.test_user_task import user
from tests.core.engine import raw
from tests.core.message_models import message, model, receive
from tests.core.models import end, start, task
from tests.engine.whole_engine import WholeEngine
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import PublishMessage
from vivero.core.state.message_channels import MESSAGES_PER_PAGE
from vivero.engine.consumer.settings import ConsumerSettings

MODEL = model(
    *(start(), task("first"), task("second"), user("decide"), receive("wait"), end()),
    *("start > first > second > end", "first > decide > end", "first > wait > end"),
    roots=(message(key="=1"),),
)
TABLES = ("process_instances", "jobs", "user_tasks", "subscriptions")


@pytest.fixture(params=[0, 48_000_000], ids=["loaded", "in memory"])
async def engine(migrated, connection, request):
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=request.param))
    async with engine.running():
        await engine.deploy(MODEL)
        yield engine


async def run_together(engine, *commands):
    """All in one batch."""
    assert [outcome.rejection for outcome in await engine.run_together(*commands)] == [None] * len(commands)


async def ids(engine):
    """Table → business ids in the order of the keys."""
    return {
        table: [id for (id,) in await engine.rows(f"SELECT business_id FROM {table} ORDER BY 1")] for table in TABLES
    }


@pytest.mark.parametrize("together", [True, False])
async def test_only_what_begins_afterwards_carries_it(engine, together):
    await engine.create()
    key = await engine.value("SELECT process_instance_key FROM process_instances")
    job = await engine.value("SELECT job_key FROM jobs")
    assert await ids(engine) == {"process_instances": [None], "jobs": [None], "user_tasks": [], "subscriptions": []}
    commands = AssignBusinessId(key, "order-7"), CompleteJob(job)
    for some in [commands] if together else [[one] for one in commands]:
        await run_together(engine, *some)
    after = ["order-7"]
    assert await ids(engine) == {
        "process_instances": after,
        "jobs": [*after, None],
        "user_tasks": after,
        "subscriptions": after,
    }


async def test_what_began_before_it_in_the_same_batch_carries_none(engine):
    await engine.create()
    key = await engine.value("SELECT process_instance_key FROM process_instances")
    job = await engine.value("SELECT job_key FROM jobs")
    await run_together(engine, CompleteJob(job), AssignBusinessId(key, "order-7"))
    assert await ids(engine) == {
        "process_instances": ["order-7"],
        "jobs": [None, None],
        "user_tasks": [None],
        "subscriptions": [None],
    }


@pytest.mark.long
async def test_a_message_is_found_behind_pages_of_others(engine):
    """A channel with many messages is loaded in pages of those that fit."""
    for business_id in (*["other"] * (2 * MESSAGES_PER_PAGE), "mine"):
        await engine.run(
            PublishMessage("hello", "1", 3_600_000, None, raw({"of": business_id}), business_id=business_id)
        )
    await engine.run(CreateInstance("p", business_id="mine"))
    job = await engine.value("SELECT job_key FROM jobs")
    await run_together(engine, CompleteJob(job))
    assert await engine.value("SELECT state FROM subscriptions") == "CORRELATED"
    assert await engine.value("SELECT value FROM variables WHERE name = 'of'") == '"mine"'
