"""docs/design: each place in the code that the pages name exists, and each section of an explanation names one."""

import ast
import re
from pathlib import Path

import pytest

from vivero.config import sections

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "design" / "concepts.md").read_text(encoding="utf-8")
ITEMS = re.findall(r"^- (.+?): (.+)$", PAGE, re.MULTILINE)
WHERE_IS = (ROOT / "docs" / "design" / "where-is.md").read_text(encoding="utf-8")
EXPLANATIONS = [
    path
    for path in sorted((ROOT / "docs" / "design").glob("*.md"))
    if path.name not in ("README.md", "concepts.md", "where-is.md")
]
SECTIONS = [
    pytest.param(section, id=f"{path.stem} {section.partition(chr(10))[0]}")
    for path in EXPLANATIONS
    for section in path.read_text(encoding="utf-8").split("\n## ")[1:]
]
PLACES = sorted(set(re.findall(r"`((?:core|engine|storage|api|vivero|examples|docs)/[^`]+)`", PAGE + WHERE_IS)))


def names_of(file):
    """The names that a module defines, with the members of its classes, or that a file of SQL has or creates."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".sql":
        return set(re.findall(r"^(?:-- name:|CREATE .*\b(?:TABLE|FUNCTION|VIEW)) (\w+)", text, re.MULTILINE))
    return set(_defined(ast.parse(text).body))


def _defined(nodes, prefix=""):
    for node in nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from _defined(node.body, f"{prefix}{node.name}.")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                prefix + each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
            )


@pytest.mark.parametrize("place", PLACES)
def test_a_place_exists(place):
    path, _, name = place.partition("::")
    assert (ROOT / path).exists()
    assert not name or name in names_of(ROOT / path)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_ends_with_its_code(section):
    last = section.strip().splitlines()[-1]
    places = re.findall(r"`([^`]+)`", last)
    assert last == "Code: " + ", ".join(f"`{place}`" for place in places)
    assert 1 <= len(places) <= 3
    for place in places:
        path, _, name = place.partition("::")
        assert (ROOT / path).is_file(), place
        assert name in names_of(ROOT / path), place


def test_each_concept_leads_somewhere():
    assert len(ITEMS) > 30
    assert [concept for concept, place in ITEMS if "`" not in place and "](" not in place] == []


def test_each_subject_has_two_places():
    items = re.findall(r"^- (.+): (`[^`]+`)\. (.+)$", WHERE_IS, re.MULTILINE)
    assert len(items) > 20
    assert len(items) == len(re.findall("^- ", WHERE_IS, re.MULTILINE))
    assert [subject for subject, _, then in items if "`" not in then and "](" not in then and " " not in then] == []


def test_the_settings_exist():
    named = re.findall(r"`((?:api|consumer|jobs|timers)\.\w+)`", PAGE)
    assert named
    assert set(named) <= set(sections.names())


@pytest.mark.parametrize(("place", "known"), [("Term.run_once", True), ("Term.nothing", False), ("Nothing", False)])
def test_the_check_sees(place, known):
    assert (place in names_of(ROOT / "engine" / "consumer" / "term.py")) is known
