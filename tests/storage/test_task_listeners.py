"""Task listeners of the whole cluster that the settings file has: rows that requests do not change."""

import pytest

from vivero.storage.postgres import driver
from vivero.storage.state import task_listeners
from vivero.storage.state.task_listeners import GlobalTaskListener

AUDIT = GlobalTaskListener("audit", "audit", 3, 50, False, ["all"])
CHECK = GlobalTaskListener("check", "check", 1, -5, True, ["completing", "updating"])


@pytest.fixture
async def connection(migrated):
    connection = await driver.connect(migrated)
    yield connection
    connection.close()


async def rows(connection):
    statement = "SELECT id, type, source FROM global_task_listeners ORDER BY id"
    return (await connection.execute(statement)).rows


async def changes(connection):
    """The number that tells batches of a change."""
    return (await connection.execute("SELECT n FROM definitions_seq")).rows[0][0]


async def test_those_of_the_file_replace_those_of_the_file_before(connection):
    assert await task_listeners.configure(connection, [CHECK, AUDIT])
    assert await rows(connection) == [("audit", "audit", "CONFIGURATION"), ("check", "check", "CONFIGURATION")]
    assert await task_listeners.configure(connection, [AUDIT._replace(type="other")])
    assert await rows(connection) == [("audit", "other", "CONFIGURATION")]
    assert await task_listeners.configure(connection, [])
    assert await rows(connection) == []


async def test_a_start_with_the_same_file_changes_nothing(connection):
    assert not await task_listeners.configure(connection, [])
    assert await task_listeners.configure(connection, [CHECK, AUDIT])
    before = await changes(connection)
    assert not await task_listeners.configure(connection, [AUDIT, CHECK])
    assert await changes(connection) == before
    assert await task_listeners.configure(connection, [AUDIT._replace(retries=4), CHECK])
    assert await changes(connection) == before + 1


async def test_requests_change_their_own_only(connection):
    assert await task_listeners.create(connection, AUDIT)
    await task_listeners.configure(connection, [CHECK])
    assert not await task_listeners.create(connection, CHECK._replace(type="mine"))
    assert not await task_listeners.replace(connection, CHECK._replace(type="mine"))
    assert not await task_listeners.delete(connection, "check")
    assert [await task_listeners.is_configured(connection, id) for id in ("check", "audit", "none")] == [
        True,
        False,
        False,
    ]
    assert await rows(connection) == [("audit", "audit", "API"), ("check", "check", "CONFIGURATION")]


async def test_one_of_the_file_replaces_one_of_requests_with_its_id(connection):
    assert await task_listeners.create(connection, AUDIT._replace(type="mine"))
    assert await task_listeners.configure(connection, [AUDIT])
    assert await rows(connection) == [("audit", "audit", "CONFIGURATION")]
