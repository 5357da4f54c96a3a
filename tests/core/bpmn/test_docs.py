"""docs/bpmn-support.md says what the tables of the parser say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vivero.core.bpmn import events
from vivero.core.bpmn.elements import contents
from vivero.core.bpmn.reading import extensions, report
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.xml import LIMITS

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


def test_what_is_not_executed_yet_is_documented_with_its_reason():
    documented = {row[0].strip("`"): row[1] for row in rows("Read, and not executed yet") if row[0].startswith("`")}
    assert documented == report.NOT_EXECUTABLE_YET


@pytest.mark.parametrize(
    ("what", "accepted"),
    [
        ("children of every element", contents.ACCEPTED_EVERYWHERE),
        (
            "children of flow nodes",
            contents.ACCEPTED_IN_NODES - contents.ACCEPTED_EVERYWHERE - contents.DATA - contents.PEOPLE_ROLES,
        ),
        ("data of every element", contents.DATA),
        ("people", contents.PEOPLE_ROLES),
        ("children of processes", contents.ACCEPTED_IN_SCOPES - contents.ACCEPTED_IN_NODES),
        ("at the top of the file", contents.ACCEPTED_IN_FILES - contents.ACCEPTED_EVERYWHERE - {"process"}),
        ("extensions", {f"zeebe:{name}" for name in (*extensions.ACCEPTED, *extensions.LISTS)}),
    ],
)
def test_everything_accepted_is_documented(what, accepted):
    (row,) = (row for row in rows("Accepted without meaning") if row[0].startswith(what))
    assert set(names(row[1])) == accepted


def test_everything_rejected_is_documented_with_its_reason():
    refused = {row[0]: row[1] for row in rows("Rejected")}
    expected = {f"`{tag}`": reason for tag, reason in (*contents.NOT_YET.items(), *contents.PARTS_NOT_YET.items())}
    expected |= {f"`zeebe:{name}`": f"{what} not executable yet" for name, what in extensions.NOT_YET.items()}
    assert {tag: refused.get(tag) for tag in expected} == expected
    assert {tag for tag in refused if re.fullmatch(r"`[\w:]+`", tag)} == set(expected)


def test_limits_are_documented():
    ((_, limits),) = (row for row in rows("Files") if row[0] == "limits")
    numbers = {number.replace(",", "") for number in re.findall(r"[\d,]*\d", limits)}
    assert {str(LIMITS.tags), str(LIMITS.depth), str(LIMITS.nodes), str(LIMITS.name_length)} <= numbers
    assert {
        str(LIMITS.bytes // 2**20),
        str(LIMITS.expressions // 2**10),
        str(LIMITS.join_places),
        str(LIMITS.problems),
    } <= numbers


def test_no_element_is_in_two_tables():
    tables = [contents.ELEMENTS, contents.NOT_YET, contents.PARTS, contents.PARTS_NOT_YET, contents.ACCEPTED_IN_SCOPES]
    tags = [tag for table in tables for tag in table]
    assert len(tags) == len(set(tags))
