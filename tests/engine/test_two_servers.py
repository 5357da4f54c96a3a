"""A partition on a server of its own, as far as it can be tried: a search over both, and what crosses between them."""

from datetime import UTC, datetime, timedelta
from random import Random

import psycopg
import pytest
import trio

from tests.engine.two_servers import OUTGOING, RECEIVED, Interrupted, pull, search
from tests.storage.search.test_search import put_instance
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import StorageError
from vivero.storage.schema.migrate import migrate
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.queries import Sort

pytestmark = pytest.mark.long
START = datetime(2026, 11, 21, tzinfo=UTC)
BY_START = (Sort(PROCESS_INSTANCES.by_name["startDate"]),)


@pytest.fixture
async def servers(replicas):
    """Two servers with the schema, and a connection to each."""
    made, connections = [replicas("first"), replicas("second")], []
    for server in made:
        await server.initialise()
        connections.append(await driver.connect(server.dsn, name="vivero test"))
        await migrate(connections[-1])
    yield made, connections
    for connection in connections:
        connection.close()


async def test_a_search_over_both_shows_everything_once_and_in_order(servers, seed):
    """Also while instances are made: what is there at the beginning is on one page."""
    (first, second), connections = servers
    random, expected = Random(seed), set()
    with psycopg.connect(first.dsn, autocommit=True) as one, psycopg.connect(second.dsn, autocommit=True) as other:

        def put(number):
            partition = random.choice((1, 2))
            moment = START + timedelta(milliseconds=random.randrange(40))  # many are alike
            put_instance((one, other)[partition - 1], (partition << 51) + number, started_at=moment)
            return str((partition << 51) + number)

        for number in range(1, 120):
            expected.add(put(number))
        for limit in (1, 7, 50, 1000):
            seen, after, total = [], None, len(expected)
            while True:
                page, after, found = await search(connections, PROCESS_INSTANCES, BY_START, limit, after)
                assert len(page) <= limit
                assert found >= total
                seen += [(item["startDate"], int(item["processInstanceKey"])) for item in page]
                if not page:
                    break
                if limit == 7:
                    put(1_000 + len(seen))
            assert seen == sorted(set(seen)), "in order, each once"
            assert expected <= {str(key) for _, key in seen}
            expected = {str(key) for _, key in seen} | expected


async def test_a_search_fails_if_one_server_does_not_answer(servers):
    """A page without the rows of one server would look complete."""
    (_, second), connections = servers
    await second.stop()
    with pytest.raises(StorageError):
        await search(connections, PROCESS_INSTANCES, BY_START, 10)


async def test_commands_cross_once_and_in_order_whatever_is_interrupted(servers, seed):
    """Several pull at once, and each is interrupted at any step."""
    source, target = servers[1]
    await source.script(OUTGOING)
    await target.script(RECEIVED)
    await source.script("INSERT INTO outgoing (target, payload) SELECT 2, n::text FROM generate_series(1, 300) n")
    random, steps = Random(seed), set()

    def interrupt(step):
        if step not in steps or random.random() < 0.1:  # each at least once, whatever the seed
            steps.add(step)
            raise Interrupted(step)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(_pull_until_empty, servers, interrupt)
    rows = await target.execute("SELECT convert_from(payload, 'UTF8')::int FROM inbox ORDER BY id")
    assert [number for (number,) in rows.rows] == list(range(1, 301))
    assert steps == {"deleted", "read", "taken", "inserted", "committed"}


async def _pull_until_empty(servers, interrupt):
    first, second = servers[0]
    while True:
        theirs, ours = await driver.connect(first.dsn), await driver.connect(second.dsn)
        try:
            while (await theirs.execute("SELECT count(*) FROM outgoing")).rows[0][0]:
                await pull(theirs, ours, (1, 2), interrupt=interrupt)
            return
        except Interrupted:
            continue
        finally:
            theirs.close()
            ours.close()
