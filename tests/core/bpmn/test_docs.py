"""docs/bpmn-support.md says what the tables of the parser say."""

from __future__ import annotations

import re
from pathlib import Path

from vivero.core.bpmn import events
from vivero.core.bpmn.elements import contents
from vivero.core.bpmn.reading import extensions
from vivero.core.bpmn.reading.draft import Place

DOCUMENT = (Path(__file__).parents[3] / "docs" / "bpmn-support.md").read_text()


def rows(heading):
    """The cells of the rows of all tables below a heading of the second level."""
    (section,) = re.findall(rf"^## {heading}$(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names(cell):
    return re.findall(r"`([\w:]+)`", cell)


def test_every_executed_element_is_documented():
    documented = [names(row[1])[0] for row in rows("Executed") if len(row) == 3 and names(row[1]) and not names(row[0])]
    assert documented == ["process", *contents.ELEMENTS, "sequenceFlow"]


def test_every_event_definition_is_documented_with_its_places():
    table = {names(row[1])[0]: row[2] for row in rows("Executed") if len(row) == 4 and names(row[1])}
    assert list(table) == list(events.EVENT_KINDS)
    words = {
        Place.PROCESS_START: r"start of a process",
        Place.EVENT_SUB_PROCESS_START: r"start of an? (process or )?event sub-process",
        Place.CATCH: r"\bcatch\b",
        Place.THROW: r"\bthrow\b",
        Place.END: r"\bend\b",
        Place.BOUNDARY: r"\bboundary\b",
    }
    for tag, kind in events.EVENT_KINDS.items():
        assert {place for place, word in words.items() if re.search(word, table[tag])} == kind.places, tag


def test_every_executed_extension_is_documented():
    documented = {row[0].strip("`").removeprefix("zeebe:") for row in rows("Executed") if row[0].startswith("`zeebe:")}
    assert documented == extensions.KNOWN


def test_extensions_that_are_accepted_or_rejected_are_documented_with_the_reason():
    """Elements are rows of `specification.table`."""
    (row,) = (row for row in rows("Accepted without meaning") if row[0].startswith("extensions"))
    assert set(names(row[1])) == {f"zeebe:{name}" for name in (*extensions.ACCEPTED, *extensions.LISTS)}
    refused = {row[0]: row[1] for row in rows("Rejected") if row[0].startswith("`zeebe:")}
    assert refused == {f"`zeebe:{name}`": f"{what} not executable yet" for name, what in extensions.NOT_YET.items()}


def test_no_element_is_in_two_tables():
    tables = [contents.ELEMENTS, contents.NOT_YET, contents.PARTS, contents.PARTS_NOT_YET, contents.ACCEPTED_IN_SCOPES]
    tags = [tag for table in tables for tag in table]
    assert len(tags) == len(set(tags))
