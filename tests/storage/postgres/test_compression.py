"""Large texts are compressed by LZ4 where PostgreSQL has it, and never by its own slow method."""

import psycopg
import pytest

KEPT = r"""
SELECT c.relname, a.attstorage::text, a.attcompression::text
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE (c.relname LIKE 'event\_log%%' AND a.attname = %s AND c.relkind IN ('r', 'p'))
   OR (c.relname = 'variables' AND a.attname = 'value')
"""


@pytest.fixture
def connection(database):
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def has_lz4(connection):
    query = "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("column", ["events", "large_events"])
def test_large_texts_are_compressed_by_lz4_or_not_at_all(connection, has_lz4, column):
    """Also in log partitions that are made later."""
    before = len(connection.execute(KEPT, (column,)).fetchall())
    connection.execute("SELECT make_log_partitions((1::bigint << 51) + 99000000)")
    kept = {name: (storage, compression) for name, storage, compression in connection.execute(KEPT, (column,))}
    assert len(kept) > before > 2
    large = ("x", "l") if has_lz4 else ("e", "")
    assert kept.pop("variables") == large
    assert set(kept.values()) == {large if column == "large_events" else ("x", "l" if has_lz4 else "")}


def test_a_large_variable_is_kept_so(connection, has_lz4):
    value = "[" + ",".join(map(str, range(100_000))) + "]"
    connection.execute(
        "INSERT INTO variables (variable_key, scope_key, process_instance_key, root_key, tenant_id, name, value)"
        " VALUES (1, 2, 2, 2, 't', 'items', %s)",
        (value,),
    )
    found = connection.execute("SELECT value, pg_column_compression(value), pg_column_size(value) FROM variables")
    ((text, method, size),) = found.fetchall()
    assert text == value
    assert (method, size < len(value)) == (("lz4", True) if has_lz4 else (None, False))
