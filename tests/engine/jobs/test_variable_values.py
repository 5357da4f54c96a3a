"""The values of variables from before the schema had their hashes are hashed in small steps."""

import pytest

from vivero.storage.state import variable_values
from vivero.storage.state.normal_form import hash_of

FIRST = 1 << 51
VALUES = ['{"b":1,"a":2}', '"x"', "1.0", '"K\\u00f6ln"', "[1, 2]", "null"]
NORMAL = {FIRST + 1: '{"a":2,"b":1}', FIRST + 3: "1", FIRST + 4: '"Köln"', FIRST + 5: "[1,2]"}


async def put(connection, values, done=0):
    for number, value in enumerate(values, 1):
        await connection.execute(
            "INSERT INTO variables VALUES ($1::bigint, $1::bigint, 1, 1, 't', 'x', $2)", (FIRST + number, value)
        )
    await connection.execute("DELETE FROM unhashed_variables")
    await connection.execute(
        "INSERT INTO unhashed_variables VALUES (1, $1::bigint, $2::bigint)", (FIRST + done, FIRST + len(values))
    )


async def hashes(connection):
    rows = (
        await connection.execute("SELECT variable_key, normal_hash FROM variables WHERE normal_hash IS NOT NULL")
    ).rows
    return {key: str(hash).replace("-", "") for key, hash in rows}


async def left(connection):
    return (await connection.execute("SELECT behind - $1::bigint FROM unhashed_variables", (FIRST,))).rows


EXPECTED = {key: hash_of(normal) for key, normal in NORMAL.items()}


@pytest.mark.long
@pytest.mark.parametrize(("rows", "size"), [(1000, 1_000_000), (1, 1_000_000), (2, 20), (1000, 1)])
async def test_all_are_hashed_however_small_the_steps(connection, do_chore, monkeypatch, rows, size):
    monkeypatch.setattr(variable_values, "ROWS", rows)
    monkeypatch.setattr(variable_values, "BYTES", size)
    await put(connection, VALUES)
    await do_chore("variable-values", epoch=-1)
    assert await hashes(connection) == {}, "another term has begun"
    await do_chore("variable-values")
    assert await hashes(connection) == EXPECTED
    assert await left(connection) == []
    await do_chore("variable-values")


async def test_what_older_nodes_write_after_the_migration_is_hashed_too(connection, do_chore):
    """The migration knows no end. An older node leaves the hash alone when it changes a value."""
    assert await left(connection) == [(0,)], "as the migration leaves it"
    await put(connection, VALUES)
    await connection.execute("UPDATE unhashed_variables SET upto = NULL")
    await connection.execute(
        "UPDATE variables SET normal_hash = $1::uuid WHERE variable_key <= $2::bigint", (hash_of("7"), FIRST + 2)
    )
    await do_chore("variable-values", epoch=-1)
    assert (await connection.execute("SELECT upto FROM unhashed_variables")).rows == [(None,)], "another term has begun"
    await do_chore("variable-values")
    assert (await hashes(connection), await left(connection)) == (EXPECTED, [])


async def test_a_chore_that_is_killed_goes_on_where_it_was(connection, do_chore):
    await put(connection, VALUES, done=3)
    await do_chore("variable-values")
    assert await hashes(connection) == {key: hash for key, hash in EXPECTED.items() if key > FIRST + 3}


async def test_a_value_that_a_batch_changes_meanwhile_keeps_the_hash_of_the_batch(connection, connect, monkeypatch):
    await put(connection, VALUES)
    (epoch,) = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0]
    batch = await connect()
    await batch.execute("BEGIN")
    await batch.execute(
        "UPDATE variables SET value = '5', normal_hash = NULL WHERE variable_key = $1::bigint", (FIRST + 1,)
    )
    assert await variable_values.hash_next(connection, 1, epoch), "nobody waits for the batch"
    await batch.execute("COMMIT")
    batch.close()
    assert not await variable_values.hash_next(connection, 1, epoch)
    expected = {key: hash for key, hash in EXPECTED.items() if key != FIRST + 1}
    assert (await hashes(connection), await left(connection)) == (expected, [])


async def test_a_value_that_is_too_long_is_passed_over(connection, do_chore, monkeypatch):
    monkeypatch.setattr(variable_values, "LONGEST", 10)
    await put(connection, ['{"b":1,"a":2,"c":3}', "1.0"])
    await do_chore("variable-values")
    assert await hashes(connection) == {FIRST + 2: hash_of("1")}
