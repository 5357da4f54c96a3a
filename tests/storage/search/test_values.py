"""Filters compare the values of variables, however they are spelled: in searches, batch operations and erasures."""

from datetime import UTC, datetime

import msgspec
import pytest

from tests.core.models import ONE_TASK
from tests.engine.whole_engine import WholeEngine
from vivero.core.records.instances import CreateInstance, SetVariables
from vivero.storage.retention import erasure
from vivero.storage.retention.erasure import ErasureSubject
from vivero.storage.search import candidates
from vivero.storage.search.candidates import PortionLimits
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.queries import SearchQuery
from vivero.storage.search.statements import prepare, run
from vivero.storage.search.statements import statement as statement_of
from vivero.storage.search.variables import VARIABLES
from vivero.storage.work.batch_operations import CANCEL_PROCESS_INSTANCE, CallerBounds

SAME = {
    '"Köln"': ['"Köln"', '"K\\u00f6ln"', ' "K\\u00F6ln"'],
    "1": ["1", "1.0", "1e0"],
    '{"a":1,"b":[2]}': ['{"a":1,"b":[2]}', '{"b":[2.0],"a":1}', '{ "a": 1, "b": [ 2 ] }'],
}


def raw(value):
    return {"x": msgspec.Raw(value.encode())}


async def found(engine, condition, resource=PROCESS_INSTANCES):
    entry = {"name": "x", "value": condition}
    filter = {"variables": [entry]} if resource is PROCESS_INSTANCES else entry
    page = await run(engine.connection, prepare(resource, SearchQuery(filter, limit=1000)))
    assert page.total == len(page.items)
    return {msgspec.json.decode(item)["processInstanceKey"] for item in page.items}


async def by_batch(engine, condition):
    """The instances that a batch operation with the filter selects."""
    limits = PortionLimits(CallerBounds(), datetime(2100, 1, 1, tzinfo=UTC), rows=1000)
    filter = {"variables": [{"name": "x", "value": condition}]}
    text, values = candidates.statement(CANCEL_PROCESS_INSTANCE, "process-instances", filter, limits)
    return {str(row[1]) for row in await engine.rows(text, *values)}


@pytest.fixture
async def engine(migrated):
    made = WholeEngine(migrated)
    async with made.running():
        await made.deploy(ONE_TASK)
        yield made


async def create(engine, value):
    outcome = await engine.run(CreateInstance("p", variables=raw(value)))
    return str(msgspec.json.decode(outcome.response)["processInstanceKey"])


async def test_each_spelling_finds_all_spellings(engine):
    created = {normal: {await create(engine, value) for value in values} for normal, values in SAME.items()}
    everything = set().union(*created.values())
    for normal, keys in created.items():
        for value in SAME[normal]:
            for ask in (found, by_batch):
                assert await ask(engine, value) == keys, value
                assert await ask(engine, {"$eq": value}) == keys
                assert await ask(engine, {"$in": [value]}) == await ask(engine, {"$in": ["5", value]}) == keys
                assert (
                    await ask(engine, {"$neq": value})
                    == await ask(engine, {"$notIn": ["5", value]})
                    == everything - keys
                )
            assert await found(engine, value, VARIABLES) == keys
            assert await erasure.trees_of(
                engine.connection, ErasureSubject(variable="x", value=value), 0, 50
            ) == sorted(map(int, keys))
    assert await found(engine, "5") == set()


async def test_clients_read_values_as_they_were_sent(engine):
    await create(engine, '{"b":[2.0],"a":1}')
    assert await engine.value("SELECT value FROM variables") == '{"b":[2.0],"a":1}'


async def test_a_new_value_has_its_own_hash(engine):
    key = await create(engine, "1.0")
    for value, count in (("2.0", 1), ("2", 0), ("3.0", 1)):
        await engine.run(SetVariables(int(key), raw(value)))
        assert await found(engine, value.removesuffix(".0")) == {key}
        assert await engine.value("SELECT count(normal_hash) FROM variables") == count
        assert await found(engine, "1") == set()


async def test_both_spellings_have_an_index(engine):
    """The search reads the two of 20,000 variables that have the value; half of them are spelled otherwise."""
    await engine.connection.execute(
        "INSERT INTO variables SELECT n, n, n, n, 't', 'x', n::text, CASE WHEN n % 2 = 0 THEN md5(n::text)::uuid END"
        " FROM generate_series(1, 20000) n"
    )
    await engine.connection.execute("ANALYZE variables")
    limits = PortionLimits(CallerBounds(), datetime(2100, 1, 1, tzinfo=UTC), rows=1000)
    filter = {"variables": [{"name": "x", "value": "7"}]}
    text, values = candidates.statement(CANCEL_PROCESS_INSTANCE, "process-instances", filter, limits)
    for statement in ((text, values), statement_of(PROCESS_INSTANCES, SearchQuery(filter))):
        plan = str(await engine.rows(f"EXPLAIN {statement[0]}", *statement[1]))
        assert "variables_normal" in plan
        assert "variables_value" in plan
