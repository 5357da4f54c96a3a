"""Decisions in the tables, with a consumer that loads everything anew."""

import pytest

from tests.chaos import replayed
from tests.core.dmn.models import decision, definitions, literal
from tests.engine.whole_engine import START_MS, WholeEngine
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import RejectionCode
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import clock


def file(**decisions):
    return definitions("".join(decision(id, literal(text)) for id, text in decisions.items()))


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=0, max_definitions=0))
    async with engine.running():
        yield engine


async def test_versions_are_rows_and_replay_gives_the_same(engine, database):
    first = await engine.deploy_together({"f.dmn": file(a="1", b="2")})
    again = await engine.deploy_together({"f.dmn": file(a="1", b="2")})
    assert (again["requirements"], again["decisions"]) == (first["requirements"], first["decisions"])
    second = await engine.deploy_together({"f.dmn": file(a="3")})
    keys = [reply["requirements"][0]["decisionRequirementsKey"] for reply in (first, second)]
    assert (await engine.run(DeleteResource(keys[1]))).rejection is None
    assert (await engine.run(DeleteResource(keys[1]))).rejection.code is RejectionCode.NOT_FOUND
    third = await engine.deploy_together({"f.dmn": file(a="4")})
    assert await engine.rows(
        "SELECT decision_id, version, state, decision_requirements_key FROM decision_definitions ORDER BY 1, 2"
    ) == [
        ("a", 1, "ACTIVE", keys[0]),
        ("a", 2, "DELETED", keys[1]),
        ("a", 3, "ACTIVE", third["requirements"][0]["decisionRequirementsKey"]),
        ("b", 1, "ACTIVE", keys[0]),
    ]
    assert await engine.rows(
        "SELECT requirements_id, version, name, resource_name, state, to_epoch_ms(deployed_at)"
        " FROM decision_requirements ORDER BY version"
    ) == [("file", version, "file", "f.dmn", state, START_MS) for version, state in
          ((1, "ACTIVE"), (2, "DELETED"), (3, "ACTIVE"))]  # fmt: skip
    assert await replayed.check(database) > 0
