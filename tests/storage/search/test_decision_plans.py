"""Deletions of decision instances read few rows, however many there are."""

from datetime import UTC, datetime

import psycopg
import pytest

from tests.storage.search.test_plans import rows_of
from vivero.storage.postgres import driver
from vivero.storage.postgres.plans import BY_INDEX
from vivero.storage.retention import decision_instances
from vivero.storage.search import candidates
from vivero.storage.search.candidates import DECISIONS_PATH, PortionLimits
from vivero.storage.work.batch_operations import DELETE_DECISION_INSTANCE, CallerBounds

FILL = """
INSERT INTO decision_instances (decision_instance_key, decision_evaluation_key, number, process_instance_key, root_key,
    tenant_id, decision_definition_key, decision_id, name, version, type, root_decision_definition_key,
    decision_requirements_key, state, result, inputs, rules, evaluated_at)
SELECT 10 * k + n, 10 * k, n, CASE WHEN k % 100 <> 0 THEN k END, CASE WHEN k % 100 <> 0 THEN k END, '<default>', 2 - n,
    CASE n WHEN 1 THEN 'Discount' ELSE 'Price' END, 'd', 1, 'DECISION_TABLE', 1, 1, 'EVALUATED', '1', '[]', '[]',
    to_timestamp(k)
FROM generate_series(1, 4000) k, generate_series(1, 2) n;
ANALYZE decision_instances;
"""
PORTION = 50


@pytest.fixture(scope="module")
def filled(module_database):
    with psycopg.connect(module_database, autocommit=True) as connection:
        connection.execute(FILL)
    return module_database


@pytest.fixture
async def connection(filled):
    connection = await driver.connect(filled, name="vivero test", settings=BY_INDEX)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("filter", "count"),
    [
        ({"evaluationDate": {"$gte": "1970-01-01T00:15:00Z", "$lt": "1970-01-01T01:05:00Z"}}, 3000),
        ({"state": "EVALUATED"}, 4000),
    ],
)
async def test_each_portion_of_a_batch_reads_as_many_rows_as_it_has(connection, filter, count):
    """Also with the look at the other decisions of each evaluation."""
    found, after, at = [], 0, None
    bounds = CallerBounds(None, ("Discount", "Price"))
    while count > len(found):
        limits = PortionLimits(bounds, datetime(2030, 1, 1, tzinfo=UTC), after, PORTION, at)
        text, values = candidates.statement(DELETE_DECISION_INSTANCE, DECISIONS_PATH, filter, limits)
        if len(found) < 3 * PORTION:  # the other portions are alike
            assert await rows_of(connection, text, values) <= 4 * PORTION
        rows = (await connection.execute(text, values)).rows
        found += dict.fromkeys(row[0] for row in rows)
        after, at = rows[-1][0], rows[-1][-1]
    assert len(set(found)) == len(found) == count


class Explained:
    """A connection that counts what its statements read. Each runs twice: the count needs a run of its own."""

    def __init__(self, connection) -> None:
        self.connection, self.read = connection, []

    async def execute(self, query, values):
        self.read.append(await rows_of(self.connection, query.text, values))
        return await self.connection.execute(query, values)


async def test_deletions_read_what_they_delete(connection):
    """The rows of an evaluation, and old ones of clients: nothing of the many others."""
    await connection.script("BEGIN")  # until its end
    explained = Explained(connection)
    assert await decision_instances.decisions_of(explained, 4000) == {"Discount": 1, "Price": 1}
    denied = await decision_instances.delete_evaluations(explained, [4010, 5, 4020], ["Price"])
    assert denied == {4010: False, 4020: False}
    assert await decision_instances.purge(explained, 0, PORTION) == 80 - PORTION, "the rest of those of clients"
    assert len(explained.read) == 3
    assert max(explained.read) <= 4 * PORTION
    assert explained.read[0] == 2
