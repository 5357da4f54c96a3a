"""The schema can be distributed by partition: the catalogue of the real schema against a table of exceptions."""

import re

import pytest

from tests.storage import distribution
from tests.storage.distribution import BELONGS, CARRIES, EXCEPTIONS, GLOBAL, SLOT
from vivero.storage.postgres import driver
from vivero.storage.postgres.sql_files import beside
from vivero.storage.retention import archives

UNIQUE = """
    SELECT t.relname::text, i.relname::text, array_agg(a.attname::text ORDER BY k.n)
    FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
    LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
    WHERE x.indisunique AND t.relnamespace = current_schema()::regnamespace AND NOT t.relispartition
    GROUP BY 1, 2"""
TABLES = """
    SELECT relname::text FROM pg_class
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace"""
REFERENCES = """
    SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"""


WITH_TEXTS = """
    SELECT DISTINCT c.relname::text
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
        AND a.atttypid::regtype::text IN ('text', 'text[]', 'json', 'jsonb', 'bytea')"""


@pytest.fixture
async def connection(migrated):
    connection = await driver.connect(migrated)
    yield connection
    connection.close()


@pytest.fixture
async def unique(connection):
    rows = (await connection.execute(UNIQUE)).rows
    return {index: (table, columns) for table, index, columns in rows}


async def test_every_table_belongs_to_partitions_or_says_why_not(connection):
    """A new table goes into one of the two lists of tests/storage/distribution.py."""
    tables = {name for (name,) in (await connection.execute(TABLES)).rows}
    assert tables - set(BELONGS) - set(GLOBAL) == set(), "in neither list"
    assert set(BELONGS) & set(GLOBAL) == set()
    assert (set(BELONGS) | set(GLOBAL)) - tables == set(), "in a list, and not there"


async def test_every_unique_index_contains_the_partition(unique):
    """Otherwise two servers could have the same key, and nobody would notice."""
    without = {
        index
        for index, (table, columns) in unique.items()
        if table in BELONGS and (BELONGS[table] == SLOT or not CARRIES & set(columns[:1]))
    }
    contains = {index for index in without if "partition_id" in unique[index][1]}
    assert without - contains == set(EXCEPTIONS), "give the index the partition, or name the exception"


async def test_no_reference_crosses_partitions(connection):
    """A foreign key would have to be checked on another server."""
    rows = (await connection.execute(REFERENCES)).rows
    assert [(table, other) for table, other in rows if table in BELONGS or other in BELONGS] == []


async def test_an_erasure_knows_every_table_with_texts(connection):
    """A new table with texts, JSON or bytes goes into one of these lists: it is emptied, or there is a reason."""
    tables = {name for (name,) in (await connection.execute(WITH_TEXTS)).rows}
    lists = (
        *(distribution.DELETED_WITH_TREES, distribution.EMPTIED_LOGS, distribution.SEARCHED_BY_VALUE),
        set(distribution.NOT_ERASED),
    )
    assert tables - set().union(*lists) == set(), "in no list"
    assert sum(map(len, lists)) == len(set().union(*lists)), "in two lists"


def test_an_archive_has_every_table_that_is_deleted_with_a_tree():
    """Without what is needed while a tree runs only: items of loops, work, and what could still be compensated."""
    archived = set(
        re.findall(r"SELECT '(\w+)', (?:row_to_json|\(to_jsonb)\(t\)", beside(archives.__file__)["open_rows"].text)
    )
    assert archived == distribution.DELETED_WITH_TREES - {
        *("loop_items", "paged_loop_items", "work_items", "compensations", "agent_answers")
    }
