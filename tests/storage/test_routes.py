"""Routes as the database has them, and the slot of a name in Python and in SQL."""

from pathlib import Path
from random import Random

import psycopg
import pytest
import trio
from psycopg.conninfo import make_conninfo

from vivero.core.partitions.routes import Routes, slot_of
from vivero.storage import state
from vivero.storage.access import directory
from vivero.storage.cluster import leadership, routes
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import DataPoison
from vivero.storage.postgres.sql_files import load
from vivero.storage.schema.migrate import migrate


@pytest.fixture
async def connection(database):
    connection = await driver.connect(database, name="vivero test")
    await migrate(connection)
    yield connection
    connection.close()


SAVE = load(Path(state.__file__).with_name("save.sql"))
NAMES = ["", ":", "a:b", "order-1", "ÄÖ", "日本", "🌱", "x" * 10_000, "\\", "'", '"', "\n", "%s", " "]


@pytest.fixture
def names(seed):
    random = Random(seed)
    signs = (*range(1, 0xD800), 0x1F600)
    drawn = ["".join(map(chr, random.choices(signs, k=9))) for _ in range(500)]
    return [(tenant, name) for tenant in ("<default>", "", "acme:eu") for name in (*NAMES, *drawn)]


async def test_a_slot_is_the_same_in_sql(connection, names):
    tenants, keys = [tenant for tenant, _ in names], [key for _, key in names]
    query = "SELECT slot_of(t, k) FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS x(t, k, n) ORDER BY n"
    rows = (await connection.execute(query, (tenants, keys))).rows
    assert [slot for (slot,) in rows] == [slot_of(tenant, key) for tenant, key in names]


async def test_one_partition_needs_no_slots(connection):
    assert await routes.read(connection) == Routes(0, 1, ())


async def test_the_owners_of_slots_are_read(connection):
    await leadership.create(connection, 3)
    await connection.execute("UPDATE slots SET partition_id = 3 WHERE slot = 7")
    read = await routes.read(connection)
    assert (read.partitions, len(read.slots), read.slots[7]) == (3, 1_024, 3)
    assert set(read.slots) == {1, 2, 3}


async def test_programs_of_two_schemas_change_routes_at_the_same_time(connection, database):
    """Two installations share a database. Within a schema, the second program is refused."""
    await connection.execute("CREATE SCHEMA other")
    found = []
    for schema in ("public", "other", "other"):
        path = make_conninfo(database, options=f"-c search_path={schema}")
        found.append(await driver.connect(path, name="vivero test"))
    try:
        assert [await routes.lock(each) for each in found] == [True, True, False]
    finally:
        for each in found:
            each.close()


async def test_a_change_raises_the_revision(connection):
    before = await routes.read(connection)
    await connection.execute("UPDATE definitions_seq SET n = n + 1")
    assert (await routes.read(connection)).revision == before.revision + 1


async def test_the_first_held_commands_are_released(connection):
    insert = "INSERT INTO inbox (target_partition, tenant_id, intent, payload) SELECT -3, 't', n, '' FROM {} n"
    await connection.execute(insert.format("generate_series(1, 5)"))
    await connection.execute(SAVE["held_commands"], (3, 2, 3))
    rows = (await connection.execute("SELECT target_partition, intent FROM inbox ORDER BY id")).rows
    assert rows == [(-3, "4"), (-3, "5"), (2, "1"), (2, "2"), (2, "3")]


MOVED = SAVE["tell_routes"], (routes.ROUTES_CHANNEL,)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: routes.pin(c, "<default>", [1]),
        lambda c: routes.add_partitions(c, 2, 2, trio.current_time() + 60),
        lambda c: c.execute(*MOVED),
    ],
    ids=["pin", "new partition", "move"],
)
async def test_a_change_is_told_to_all_nodes(connection, database, change):
    with psycopg.connect(database, autocommit=True) as node:
        node.execute("LISTEN vivero_routes")
        await change(connection)
        assert [told.channel for told in node.notifies(timeout=10, stop_after=1)] == ["vivero_routes"]


async def test_pins_end_with_their_tenant(connection, database):
    """A later tenant with the same id begins in all partitions, and all nodes hear of it."""
    await leadership.create(connection, 2)
    await directory.create(connection, directory.TENANT, "acme", ("Acme", None))
    await routes.pin(connection, "acme", [2])
    pinned = await routes.read(connection)
    with psycopg.connect(database, autocommit=True) as node:
        node.execute("LISTEN vivero_routes")
        assert await directory.delete(connection, directory.TENANT, "acme") == "done"
        assert [told.channel for told in node.notifies(timeout=10, stop_after=1)] == ["vivero_routes"]
    left = await routes.read(connection)
    assert (pinned.pins, left.pins) == ({"acme": (2,)}, {})
    assert left.revision > pinned.revision


async def test_an_unknown_tenant_has_no_pins(connection):
    with pytest.raises(DataPoison):
        await routes.pin(connection, "acme", [1])


async def test_held_commands_come_after_those_that_were_sent_on(connection):
    """Both are on the way to partition 2: what partition 3 has held, and what the previous owner has sent on."""
    insert = "INSERT INTO inbox (target_partition, tenant_id, intent, payload) SELECT $1, 't', $2, ''"
    for partition, intent in ((-3, "third"), (-3, "fourth"), (2, "first"), (2, "second")):
        await connection.execute(insert, (partition, intent))
    for first in (1, None):
        await connection.execute(SAVE["held_commands"], (3, 2, first))
    rows = (await connection.execute("SELECT intent FROM inbox WHERE target_partition = 2 ORDER BY id")).rows
    assert [intent for (intent,) in rows] == ["first", "second", "third", "fourth"]
