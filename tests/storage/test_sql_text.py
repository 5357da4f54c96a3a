"""SQL is written out in files and composed of named fragments; no code searches or replaces in its text."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "storage", "engine", "api", "vivero")
MAX_COLUMNS = 130
RELEASED = 62
"""The last migration of a release: its text never changes again, nor do functions of databases that it has adopted."""

EXCEPTIONS = {
    "storage/postgres/sql_files.py": "headings and includes",
    "storage/background/outbox.py": "ids of events",
    "storage/retention/backups.py": "values of settings",
    "storage/schema/installations.py": "names of schemas",
    "storage/schema/catalogue.py": "objects of schema.sql, and what differs between servers: compared, never run",
    "storage/search/fields.py": "digits of keys",
}
"""Modules with SQL that use regular expressions or replace parts of texts, and of which texts."""

SQL = re.compile(r"\b(SELECT|INSERT INTO|DELETE FROM|(CREATE|ALTER) (TABLE|ROLE|SCHEMA))\b")
EDITS = {"replace", "sub", "subn", "translate"}


def has_sql(path: str, text: str) -> bool:
    if path.startswith("storage/search/") or path == "storage/postgres/sql_files.py":
        return True
    if not SQL.search(text) and "sql_files" not in text:
        return False  # and is not parsed: that takes seconds for all modules
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(SQL.search(node.value))
        for node in ast.walk(tree)
        if id(node) not in docstrings
    ) or any(isinstance(node, ast.ImportFrom) and "sql_files" in ast.unparse(node) for node in ast.walk(tree))


def edits(text: str) -> bool:
    """Whether a module uses regular expressions, or replaces parts of texts. (`structs.replace` copies a record.)"""
    tree = ast.parse(text)
    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    methods = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in EDITS]
    return any(re.match(r"(import|from) re\b", text) for text in imports) or any(
        not ast.unparse(node.value).endswith("structs") for node in methods
    )


def test_no_code_edits_sql():
    modules = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents)
    }
    with_sql = {path for path, text in modules.items() if has_sql(path, text)}
    assert len(with_sql) > 50
    assert {path for path in with_sql if edits(modules[path])} == set(EXCEPTIONS)


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("import re", True),
        ("from re import sub", True),
        ("text = sql.replace('{}', rows)", True),
        ("text = PLACE.sub(rows, sql)", True),
        ("record = msgspec.structs.replace(record, name='x')", False),
        ("import reprlib", False),
    ],
)
def test_the_check_sees_edits(code, seen):
    assert edits(code) is seen


def test_the_check_sees_sql():
    assert has_sql("api/x.py", "x = f'SELECT {y}'")
    assert has_sql("api/x.py", "from vivero.storage.postgres.sql_files import beside")
    assert not has_sql("api/x.py", "'''SELECT in a docstring'''")


def files_of_sql():
    for folder in (*FOLDERS, "benchmarks", "tests"):
        for path in sorted((ROOT / folder).rglob("*.sql")):
            released = (
                path.parent.name == "released"
                or path.name == "schema.sql"
                or (path.parent.name == "migrations" and int(path.name[:4]) <= RELEASED)
            )
            if not released:
                yield path


def test_lines_of_sql_are_short():
    files = list(files_of_sql())
    assert len(files) > 35
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MAX_COLUMNS
    ]
    assert long == []
