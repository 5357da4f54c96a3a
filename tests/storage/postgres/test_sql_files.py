"""The loader of named statements, and the rules that hold for every .sql file of the project."""

from pathlib import Path

import pytest

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
    ],
)
def test_a_broken_rule_is_told_with_its_place(file, text, message):
    with pytest.raises(SqlFileError) as caught:
        load(file(text))
    assert message in str(caught.value)


STORAGE = Path(__file__).parents[3] / "storage"


def test_every_statement_of_the_project_keeps_the_rules():
    files = sorted(path for path in STORAGE.rglob("*.sql") if path.parent.name != "migrations")
    assert files
    for path in files:
        for statement in load(path).values():
            assert len(statement.why) > 10, f"{statement.name} says hardly anything"
