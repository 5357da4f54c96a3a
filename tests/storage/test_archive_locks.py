"""Locks of the files of the archive: two changes never wait for each other."""

import pytest
import trio

from tests.eventually import eventually_blocked
from vivero.storage.retention import archives

ROOT = (1 << 51) + 7
FILES = """INSERT INTO archive_files (name, partition_id, state, trees, first_key, last_key, waiting)
SELECT name, 1, 'COMPLETE', 1, $2, $2, ARRAY[$2::bigint] FROM unnest($1::text[]) AS n(name)"""
LOCK = "SELECT name FROM archive_files WHERE name = 'b' FOR UPDATE"
FREE = "SELECT name FROM archive_files ORDER BY name FOR UPDATE SKIP LOCKED"


@pytest.mark.parametrize("statement", [archives.let_go, archives.settle], ids=lambda statement: statement.__name__)
async def test_files_are_locked_in_the_order_of_their_names(connection, connect, statement):
    await connection.execute(FILES, (["c", "a", "b"], ROOT))
    holder, looker = await connect(), await connect()
    async with trio.open_nursery() as nursery, holder.transaction():
        await holder.execute(LOCK)
        nursery.start_soon(statement, connection, [ROOT] if statement is archives.let_go else 1)
        await eventually_blocked(looker)
        assert (await looker.execute(FREE)).rows == [("c",)]
    assert (await connection.execute("SELECT DISTINCT waiting FROM archive_files")).rows == [([],)]
