"""Evaluations of decisions with a consumer that loads everything anew: rows, replay, erasure, retention."""

import msgspec
import pytest

from tests.chaos import replayed
from tests.core.decision_models import one, prices, rule
from tests.core.event_models import loop, model
from tests.core.models import end, start
from tests.engine.whole_engine import START_MS, WholeEngine
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.instances import CreateInstance, ResolveIncident
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import clock
from vivero.storage.retention import decision_instances, history

TASK = model(start(), rule("r"), end(), "start > r > end")
ROWS = (
    "SELECT decision_id, number, state, result, process_instance_key, element_id FROM decision_instances ORDER BY 1, 2"
)


def values(**variables):
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in variables.items()}


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=0, max_definitions=0))
    async with engine.running():
        await engine.deploy_together({"shop.dmn": prices()})
        yield engine


async def evaluate(engine, id="Price", **variables):
    outcome = await engine.run(EvaluateDecision(id, variables=values(**variables)))
    return outcome.rejection or msgspec.json.decode(outcome.response)


async def test_a_task_leaves_rows_that_replay_gives_again_and_that_go_with_the_instance(engine, database):
    await engine.deploy(TASK)
    await engine.run(CreateInstance("p", variables=values(total=200, customer="gold")))
    key = await engine.value("SELECT process_instance_key FROM process_instances")
    assert await engine.rows(ROWS) == [
        ("Discount", 1, "EVALUATED", "0.1", key, "r"),
        ("Price", 2, "EVALUATED", "180", key, "r"),
    ]
    assert await engine.value("SELECT value FROM variables WHERE name = 'price'") == "180"
    assert await replayed.check(database) > 0
    assert await history.delete_trees(engine.connection, [key], history.REQUEST) == {key: history.DELETED}
    assert await engine.rows(ROWS) == []


async def test_an_evaluation_of_a_client_is_a_command_with_rows(engine, database):
    reply = await evaluate(engine, total=200, customer="gold")
    assert reply["output"] == "180"
    assert await engine.rows(ROWS) == [
        ("Discount", 1, "EVALUATED", "0.1", None, None),
        ("Price", 2, "EVALUATED", "180", None, None),
    ]
    assert (await evaluate(engine, "Nope")).code == "NOT_FOUND"
    assert await replayed.check(database) > 0


async def test_a_failure_is_kept_and_resolving_evaluates_the_version_then_latest(engine, database):
    await engine.deploy(TASK)
    await engine.run(CreateInstance("p", variables=values(total=2000, customer="gold")))
    incident, type_, message = (await engine.rows("SELECT incident_key, type, message FROM incidents"))[0]
    assert type_ == "DECISION_EVALUATION_ERROR"
    assert "(matched rules: 2, 3)" in message
    assert [row[:3] for row in await engine.rows(ROWS)] == [("Discount", 1, "FAILED")]
    await engine.deploy_together({"shop.dmn": prices(policy="FIRST")})
    assert (await engine.run(ResolveIncident(incident))).rejection is None
    assert await engine.value("SELECT state FROM process_instances") == "COMPLETED"
    assert await engine.rows("SELECT state, count(*)::int FROM decision_instances GROUP BY 1 ORDER BY 1") == [
        ("EVALUATED", 2),
        ("FAILED", 1),
    ]
    assert await replayed.check(database) > 0


@pytest.mark.long
async def test_a_loop_of_a_thousand_evaluates_each_once(engine, database):
    looped = loop(rule("r", "Twice", "d"), "=for i in 1..1000 return i", item="n", output="=d", into="all")
    await engine.deploy_together({"twice.dmn": one("Twice", "n * 2")})
    await engine.deploy(model(start(), looped, end(), "start > r > end"))
    await engine.run(CreateInstance("p"))
    await engine.until_value("COMPLETED", "SELECT state FROM process_instances")
    assert await engine.value("SELECT count(*)::int FROM decision_instances") == 1000
    results = msgspec.json.decode(await engine.value("SELECT value FROM variables WHERE name = 'all'"))
    assert sorted(results) == [2 * n for n in range(1, 1001)]
    assert await replayed.check(database) > 0


async def test_retention_deletes_what_clients_evaluated_and_no_rows_of_instances(engine):
    await engine.deploy(TASK)
    await engine.run(CreateInstance("p", variables=values(total=1, customer="x")))
    await evaluate(engine, total=1, customer="x")
    await clock.pin(engine.connection, START_MS + 10_000)
    assert await decision_instances.purge(engine.connection, 60_000, 100) == 0
    assert await decision_instances.purge(engine.connection, 5_000, 1) == 1
    assert await decision_instances.purge(engine.connection, 5_000, 100) == 1
    assert len(await engine.rows(ROWS)) == 2
