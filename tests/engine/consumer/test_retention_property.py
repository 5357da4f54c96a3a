"""The retention of instances, from the model to the row of its definition, and back."""

import pytest

from tests.chaos import replayed
from tests.core.bpmn.test_retention import DAY_MS, with_property
from tests.engine.whole_engine import WholeEngine
from vivero.storage.retention import history


@pytest.mark.long
async def test_a_version_keeps_what_its_model_says_and_replay_gives_the_same(migrated):
    engine = WholeEngine(migrated)
    async with engine.running():
        (first,) = await engine.deploy(with_property("P90D"))
        (second,) = await engine.deploy(with_property("never"))
        await engine.deploy(with_property("x", "another"))
        await engine.create()
        assert await history.of_models(engine.connection) == {first: 90 * DAY_MS, second: 0}
    async with WholeEngine(migrated).running() as later:
        assert await later.deploy(with_property("x", "another")) != [second], "the family is read from the table"
    assert await replayed.check(migrated) > 0
