"""The loader of named statements, and the rules that hold for every .sql file of the project."""

import pytest

from tests.named_sql import named_sql_files
from vivero.storage.postgres.sql_files import SqlFileError, load

GOOD = """-- Statements of the log.

-- name: first
-- Because it comes first,
-- and nothing before it.
SELECT 1  -- a comment within
  FROM t;

-- name: second
--
-- Why not.
SELECT ';';
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "log.sql"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_statements_by_name_with_their_reasons(file):
    statements = load(file(GOOD))
    assert list(statements) == ["first", "second"]
    assert statements["first"].text == "SELECT 1  -- a comment within\n  FROM t"
    assert statements["first"].why == "Because it comes first, and nothing before it."
    assert statements["second"].text == "SELECT ';'"
    assert statements["second"].why == "Why not."
    assert statements["second"].name == "log.second"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "log.sql: the file has no '-- name:' heading"),
        ("SELECT 1;\n-- name: a\n-- Why.\nSELECT 1", "SQL before the first heading: 'SELECT 1;'"),
        (
            "-- name: a\n-- Why.\nSELECT 1;\n\n-- name: a\n-- Why.\nSELECT 2;",
            "log.sql:5: a second statement is named 'a'",
        ),
        ("\n-- name: a\nSELECT 1;", "log.sql:2: 'a' needs a comment"),
        ("-- name: a\n--\nSELECT 1;", "log.sql:1: 'a' needs a comment"),
        ("-- name: a\n-- Why.\n", "log.sql:1: 'a' has no statement"),
        ("-- name: a\n-- Why.\n;", "log.sql:1: 'a' has no statement"),
        ("-- name: A b\n-- Why.\nSELECT 1", "log.sql:1: 'A b' is not a valid name"),
        ("-- name:\n-- Why.\nSELECT 1", "log.sql:1: '' is not a valid name"),
        ("-- name: a\n-- Why.\n-- include: b", "log.sql:3: no fragment above is named 'b'"),
        (
            "-- name: a\n-- Why.\n-- include: b\n-- fragment: b\n-- Why.\nSELECT 1",
            "log.sql:3: no fragment above is named",
        ),
        ("-- fragment: a\n-- Why.\n-- include: a", "log.sql:3: no fragment above is named 'a'"),
        (
            "-- name: a\n-- Why.\nSELECT 1;\n-- name: b\n-- Why.\n-- include: a",
            "log.sql:6: no fragment above is named 'a'",
        ),
        ("-- fragment: a\nSELECT 1", "log.sql:1: 'a' needs a comment"),
        ("-- fragment: a\n-- Why.\nSELECT 1", "log.sql:1: no statement includes the fragment 'a'"),
        ("-- name: a\n-- Why.\nSELECT 1;\n-- fragment: a\n-- Why.\n1", "log.sql:4: a second fragment is named 'a'"),
        ("-- name: a\n-- Why.\nSELECT 1\n-- include b", "log.sql:4: write '-- include: NAME'"),
        ("-- name: a\n-- Why.\nSELECT 1\n-- only tenants AND x", "log.sql:4: write '-- include: NAME'"),
        ("-- name: a\n-- Why.\nSELECT 1\n-- only tenant: AND x", "log.sql:4: 'tenant' is not a variant: tenants"),
    ],
)
def test_a_broken_rule_is_told_with_its_place(file, text, message):
    with pytest.raises(SqlFileError) as caught:
        load(file(text))
    assert message in str(caught.value)


PARTS = """
-- fragment: rows
-- They are those of all.
FROM t
WHERE x = $1

-- fragment: tail
-- The newest.
-- include: rows
  AND y
ORDER BY z;

-- name: newest
-- Because of this.
-- include: tail

-- name: count
-- Because of that.
SELECT count(*)
    -- include: rows
    -- only tenants: AND (tenant = $2
    -- only tenants:      OR tenant IS NULL);
"""


def test_fragments_are_included(file):
    statements = load(file(PARTS))
    assert list(statements) == ["newest", "count"]
    assert statements["newest"].text == "FROM t\nWHERE x = $1\n  AND y\nORDER BY z"
    assert statements["newest"].why == "Because of this."
    assert statements["count"].text == "SELECT count(*)\nFROM t\nWHERE x = $1"


def test_a_variant_has_more_lines(file):
    count = load(file(PARTS), "tenants")["count"]
    assert count.text == "SELECT count(*)\nFROM t\nWHERE x = $1\n AND (tenant = $2\n      OR tenant IS NULL)"
    assert count.name == "log.count"


def test_every_statement_of_the_project_keeps_the_rules():
    files = named_sql_files()
    assert files
    for path in files:
        for statement in load(path).values():
            assert len(statement.why) > 10, f"{statement.name} says hardly anything"
