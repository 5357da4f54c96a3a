"""`storage/schema/schema.sql` is what the migrations make, and nothing else."""

from dataclasses import dataclass

import psycopg
import pytest

from tests.storage.schemas import schema_file
from vivero.storage.schema import catalogue

NOT_WRITTEN = {
    "row-level security": "SELECT count(*) FROM pg_policy",
    "comments": "SELECT count(*) FROM pg_description d JOIN pg_class c ON c.oid = d.objoid"
    " WHERE c.relnamespace = 'public'::regnamespace",
    "types": "SELECT count(*) FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e', 'r')",
    "rules": "SELECT count(*) FROM pg_rules WHERE schemaname = 'public'",
    "other relations": "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    " AND relkind NOT IN ('r', 'p', 'v', 'i', 'I', 'S', 't')",
}
"""The file would not show comments and policies, so migrations make none."""


async def test_the_file_is_what_the_migrations_make(empty_database):
    assert catalogue.SCHEMA_FILE.read_text() == await schema_file.text(empty_database), "`make schema` writes it"


@pytest.mark.parametrize("what", NOT_WRITTEN)
def test_migrations_make_nothing_that_the_file_leaves_out(database, what):
    with psycopg.connect(database) as connection:
        assert connection.execute(NOT_WRITTEN[what]).fetchone() == (0,)


def test_the_file_is_read_as_it_was_written():
    assert catalogue.written(catalogue.expected()) == catalogue.SCHEMA_FILE.read_text()


@dataclass
class Sorts:
    """A catalogue with one table and one view."""

    table: str = "CREATE TABLE t (\n    a text COMPRESSION lz4,\n    b int\n) WITH (autovacuum_x=1, fillfactor=85);"
    view: str = "CREATE VIEW v AS\n SELECT t.a\n   FROM t;"

    def made(self):
        return {"table t": self.table, "view v": self.view}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Sorts(), []),
        (Sorts(table=Sorts().table.replace(" COMPRESSION lz4", " STORAGE EXTERNAL")), []),
        (Sorts(table=Sorts().table.replace("fillfactor=85", "fillfactor=100")), []),
        (Sorts(view=Sorts().view.replace("t.a", "a")), []),
        (Sorts(view=Sorts().view.replace("t.a", "b")), ["view v: unexpected: SELECT b"]),
        (Sorts(table=Sorts().table.replace("b int", "b bigint")), ["table t: unexpected: b bigint"]),
        (Sorts(table=Sorts().table.replace(",\n    b int", "")), ["table t: missing: b int"]),
        (
            Sorts(table="CREATE TABLE t (\n    b int,\n    a text\n) WITH (autovacuum_x=1);"),
            ["table t: its lines are in another order"],
        ),
    ],
)
def test_differences(found, told):
    assert list(catalogue.differences(found.made(), Sorts().made())) == told


def test_an_object_that_is_missing_is_named_and_one_of_others_is_not():
    assert list(catalogue.differences({"table mine": ""}, {"table t": ""})) == ["table t is missing"]
