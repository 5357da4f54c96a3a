"""The documentation says what is there: elements, commands, settings, links, examples."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import click
import pytest

from tests import reference, tables
from vivero.cli import CLI_COMMANDS, main
from vivero.config import sections
from vivero.core import dispatch
from vivero.core.bpmn.elements.contents import ELEMENTS as ELEMENT_KINDS
from vivero.core.bpmn.parser import parse

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ELEMENTS = DOCS / "elements"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
MODELS = sorted((ROOT / "examples").rglob("*.bpmn"))

DEFINITIONS = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
  <error id="refusal" errorCode="refused" />
  <escalation id="delay" escalationCode="delayed" />
  <signal id="news" name="news" />
  <message id="payment" name="paid">
    <extensionElements><zeebe:subscription correlationKey="=order.id" /></extensionElements>
  </message>
  {}
</definitions>"""
PROCESS = '<process id="p" isExecutable="true">{}{}</process>'


def pages_of_elements():
    return {path.stem.upper(): path for path in ELEMENTS.glob("*.md") if path.name != "README.md"}


def test_every_element_has_a_page():
    """Those that the parser reads may have theirs before the core runs them."""
    read = {kind.type for kind in ELEMENT_KINDS.values()}
    assert set(dispatch.ELEMENTS) <= set(pages_of_elements()) <= set(dispatch.ELEMENTS) | read


def example(page):
    [fragment] = re.findall(r"^## Example\n\n```xml\n(.*?)```", page.read_text(), re.MULTILINE | re.DOTALL)
    return fragment


@pytest.mark.parametrize("type_", sorted(pages_of_elements()))
def test_the_example_of_an_element_shows_it_and_can_be_read(type_):
    fragment = example(pages_of_elements()[type_])
    start = "" if fragment.startswith("<startEvent") else '<startEvent id="the-start" />'
    process = fragment if fragment.startswith("<process") else PROCESS.format(start, fragment)
    parsed = parse(DEFINITIONS.format(process).encode(), "example.bpmn")
    assert [str(problem) for problem in parsed.problems] == []
    nodes = parsed.processes[0].nodes.values()
    assert type_ in {node.type for node in nodes} | {node.entered_as for node in nodes}


def test_every_page_of_an_element_names_type_and_section():
    for type_, page in pages_of_elements().items():
        text = page.read_text()
        assert re.search(rf"element type `{type_}`\. BPMN 2\.0\.2 §\d", text), page
        assert "Nothing is missing" not in text, f"{page}: leave the section out"


def test_the_index_lists_every_element():
    listed = set(re.findall(r"^- \[.*?\]\((\w+)\.md\)", (ELEMENTS / "README.md").read_text(), re.MULTILINE))
    assert listed == {type_.lower() for type_ in pages_of_elements()}


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
def test_examples_can_be_deployed(model):
    parsed = parse(model.read_bytes(), model.name)
    assert [str(problem) for problem in parsed.problems] == []
    assert parsed.processes


# -------------------------------------------------------------------------------------- command line and settings


def commands():
    context = click.Context(main)
    return {name: main.get_command(context, name) for section in CLI_COMMANDS.values() for name in section}


MANUAL = (DOCS / "cli.md").read_text()
COMMON = MANUAL.split("## Common options\n")[1].split("\n## ")[0]


def section_of(name: str) -> str:
    """The manual's text about a command."""
    [section] = re.findall(rf"^### `vivero {name}[ `].*?(?=^##|\Z)", MANUAL, re.MULTILINE | re.DOTALL)
    return section


def plain(text: str) -> str:
    """A text without line breaks, marks of code, and the default in brackets."""
    return " ".join(re.sub(r"\s*\[[^]]*\]$", "", text).replace("`", "").split())


def is_named(option: click.Option, text: str) -> bool:
    """Whether a text has an option; the command's own help explains it."""
    return any(re.search(rf"(?<![\w-]){name}(?![\w-])", text) for name in option.opts)


@pytest.mark.parametrize("name", [name for section in CLI_COMMANDS.values() for name in section])
def test_the_manual_says_what_a_command_does_and_names_its_options(name):
    section, command = section_of(name), commands()[name]
    assert plain((command.help or "").split("\n\n")[0]).rstrip(".") in plain(section)
    options = [
        one for one in command.params if isinstance(one, click.Option) and one.name not in ("address", "as_json")
    ]
    assert all(option.help for option in options)
    assert [one.opts for one in options if not is_named(one, section) and not is_named(one, COMMON)] == []


def test_the_manual_knows_no_other_command():
    assert set(re.findall(r"^### `vivero ([\w-]+)", MANUAL, re.MULTILINE)) == set(commands())


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda path: path.name)
def test_tables_of_settings_and_limits_say_what_the_code_says(page):
    assert page.read_text() == tables.rewrite(page), "make tables"


def test_every_setting_is_in_the_manual():
    documented = re.findall(
        r"^- \[?`([a-z_]\w*(?:\.\w+)?)`\S*(?: \(.+?\))?: ", tables.SETTINGS.read_text(), re.MULTILINE
    )
    assert sorted(documented) == sorted(sections.names())


# ----------------------------------------------------------------------------------------------------- all pages


@cache
def prose(page: Path) -> str:
    """The text of a page without its examples."""
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def test_the_documentation_stays_short():
    """Words as `wc -w` counts them, with the decision records. A new text takes the place of one that says the same.

    The pages that follow from the code repeat its texts, and are not counted.
    """
    written = [page for page in DOCS.rglob("*.md") if page.parent != reference.FOLDER]
    words = {str(page.relative_to(ROOT)): len(page.read_text().split()) for page in written}
    longest = sorted(words, key=words.__getitem__)[-5:]
    assert sum(words.values()) <= 95_000, f"Say things once. The longest pages: {longest}"


def test_no_page_has_marks_of_a_merge_conflict():
    marks = re.compile(r"^(?:<{7} .*|={7}|>{7} .*)$", re.MULTILINE)
    assert marks.findall("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> 1f (d)\n") == [
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>> 1f (d)",
    ]
    assert [(page.name, found) for page in PAGES for found in marks.findall(page.read_text())] == []


def test_links_between_pages_lead_somewhere():
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(page))]
    assert len(links) > 500
    places = {(page, target) for page, target in links if "://" not in target}
    assert sorted((page, target) for page, target in places if not (page.parent / target).exists()) == []


@cache
def anchors(page: Path) -> set[str]:
    """The fragments of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"\]\(.*?\)", "", heading)).lower().replace(" ", "-") for heading in headings
    }


def test_links_to_sections_lead_to_a_heading():
    links = {
        (page, (page.parent / target if target else page).resolve(), anchor)
        for page in PAGES
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([^)]*)\)", prose(page))
    }
    assert len(links) > 100
    assert sorted((page, target, anchor) for page, target, anchor in links if anchor not in anchors(target)) == []


def test_files_that_pages_name_exist():
    names = re.compile(r"`((?:core|engine|storage|api|vivero|tests|benchmarks|docs)/[\w./]+)`")
    named = {(page, name) for page in PAGES for name in names.findall(page.read_text())}
    assert len(named) > 200
    assert sorted((page, name) for page, name in named if not (ROOT / name).exists()) == []


def test_every_page_is_reachable_from_the_readme():
    seen: set[Path] = set()
    todo = [ROOT / "README.md"]
    while todo:
        page = todo.pop().resolve()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        todo += [page.parent / found for found in re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", page.read_text())]
    missing = {page for page in PAGES if page.resolve() not in seen}
    assert {str(page.relative_to(ROOT)) for page in missing} == set()


def named_tests(text):
    """The number of tests that a text names. Each must exist."""
    found = re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", text)
    for path, name in found:
        assert (ROOT / path).is_file(), path
        assert not name or re.search(rf"def {name}\(", (ROOT / path).read_text()), (path, name)
    return len(found)


def test_every_invariant_names_a_test_that_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    invariants = re.findall(r"^\*\*Architecture invariant:\*\* (.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(invariants) >= 10
    assert [invariant for invariant in invariants if not named_tests(invariant)] == []


def test_every_hazard_names_a_test_that_exists_or_says_that_there_is_none():
    text = (DOCS / "reliability.md").read_text()
    hazards = re.findall(r"^(\d+)\. (\*\*.*?)(?=^\d+\. |^#)", text, re.MULTILINE | re.DOTALL)
    assert [int(number) for number, _ in hazards] == list(range(1, 48))
    assert [number for number, hazard in hazards if not (named_tests(hazard) or "No test" in hazard)] == []


def test_each_value_on_the_page_of_limits_comes_from_the_code():
    """`tables.rewrite` raises for an item without a source; a value in italics is none of the code."""
    items = re.findall(r"^- (.*?): \*\*", tables.LIMITS.read_text(), re.MULTILINE)
    assert len(items) > 100
    assert sorted(items) == sorted(tables.sources()), "an item was renamed: rename it in tests/limits.toml"
    assert [item for item in items if not tables.named(tables.sources()[item])] == []


# ------------------------------------------------------------------------------- what code and pages refer to

SOURCES = [
    path
    for folder in ("core", "engine", "storage", "api", "vivero", "benchmarks", "tests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".sql"}
]
ABSENT = re.compile(r"KERNEL\.md|KERNEL section|\bCORE\.md|\bCORE D\d|DESIGN\.md")


def test_nothing_refers_to_documents_that_are_not_here():
    assert len(SOURCES) > 300
    texts = [(path, path.read_text(encoding="utf-8")) for path in (*SOURCES, *PAGES) if path != Path(__file__)]
    assert [(str(path), found[0]) for path, text in texts for found in ABSENT.finditer(text)] == []


def has_section(page: Path, number: str) -> bool:
    return bool(re.search(rf"^## {number}\. ", page.read_text(), re.MULTILINE))


def test_every_table_is_in_the_design():
    migrations = sorted((ROOT / "storage" / "schema" / "migrations").glob("*.sql"))
    created = set(re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", "\n".join(p.read_text() for p in migrations), re.M))
    page = (DOCS / "design" / "log.md").read_text()
    assert len(created) > 25
    assert {table for table in created if f"`{table}`" not in page} == set()


def test_documents_and_sections_that_code_names_exist():
    records = {path.name[:4] for path in RECORDS}
    seen = 0
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        for number in re.findall(r"docs/adr/(\d{4})", text):
            assert number in records, (path, number)
        for name, numbers in re.findall(r"(docs/design/\w+\.md)((?:(?:,| and)?\s§\d+)*)", text):
            seen += 1
            assert (ROOT / name).is_file(), (path, name)
            assert all(has_section(ROOT / name, number) for number in re.findall(r"\d+", numbers)), (path, name)
    assert seen > 20


RECORDS = sorted((DOCS / "adr").glob("0*.md"))


def test_a_decision_record_has_context_decision_and_consequences():
    headings = {record.stem: re.findall(r"^## (.+)$", record.read_text(), re.MULTILINE) for record in RECORDS}
    assert {name for name, found in headings.items() if found != ["Context", "Decision", "Consequences"]} == set()


def test_every_decision_record_is_numbered_and_listed():
    listed = re.findall(r"^- \[(\d+)\. (.+)\]\((\d{4})-[a-z-]+\.md\)$", (DOCS / "adr" / "README.md").read_text(), re.M)
    titles = {}
    for path in RECORDS:
        [(number, title)] = re.findall(r"\A# (\d+)\. (.+)\n", path.read_text())
        assert int(number) == int(path.name[:4]), path
        titles[int(number)] = title
    assert {int(number): title for number, title, _file in listed} == titles
    assert len(titles) == len(RECORDS), "each number once"
