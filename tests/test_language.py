"""Plain English that a program can check: docstrings and comments begin with their subject."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
QUESTION = re.compile(r"(What|Who|Whom|Whose|How|Which|Where|Whatever|Whoever|Whichever|However|Wherever|Of)\b")
"""A docstring that begins so has a clause, or an owner, in place of its subject."""
QUESTION_IN_QUOTES = re.compile(rf"""["'][\s\\]*{QUESTION.pattern}""")
"""Each file with such a docstring has this somewhere. The others are not parsed: parsing all takes seconds."""


def questions_of(text: str) -> Iterator[str]:
    """The docstrings that begin with a clause."""
    if not QUESTION_IN_QUOTES.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring is not None and QUESTION.match(docstring):
                yield docstring


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""What is left."""\ndef f():\n    """The rest."""', ["What is left."]),
        ("class C:\n    ' Who calls.'\n    name = 'What is no docstring'", ["Who calls."]),
        ('"""\\\nHow it ends."""', ["How it ends."]),
        ('"""Of a row: caches."""', ["Of a row: caches."]),
        ('"""Whether it ends. Of course, often."""', []),
    ],
)
def test_the_check_sees_clauses(text, found):
    assert list(questions_of(text)) == found


def test_docstrings_of_tests_begin_with_their_subject():
    assert {path.name: found for path in TESTS if (found := list(questions_of(path.read_text(encoding="utf-8"))))} == {}


OPENING = re.compile(rf"""^[ \t]*(?:r?\"{{3}}|/\*\*|//|--|\#)[ ]?{QUESTION.pattern}.*""", re.MULTILINE)
"""A line on which a docstring or comment begins with a clause, in Python, SQL and TypeScript."""
FOLDERS = ("core", "engine", "storage", "api", "vivero", "benchmarks", "examples", "console/src", "tests")
MIGRATIONS = ROOT / "storage" / "schema" / "migrations"
"""Never changed: each has run somewhere."""


def openings(text: str) -> list[str]:
    return [found.group().strip() for found in OPENING.finditer(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('    """What is left."""', ['"""What is left."""']),
        ("-- How far it is.\nSELECT 1", ["-- How far it is."]),
        ("  /** Who calls. */\n  // Which one\nlet what = 1", ["/** Who calls. */", "// Which one"]),
        ('"""The rest. What is left."""\n# Whether it ends\n-- however', []),
    ],
)
def test_the_check_sees_clauses_of_comments(text, found):
    assert openings(text) == found


def test_docstrings_and_comments_of_the_program_begin_with_their_subject():
    kinds = {".py", ".sql", ".ts", ".tsx", ".mjs"}
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in kinds]
    files = [path for path in files if MIGRATIONS not in path.parents] + [ROOT / "console" / "vite.config.mjs"]
    assert len(files) > 1500
    found = {str(path.relative_to(ROOT)): openings(path.read_text(encoding="utf-8")) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}
