"""docs/bpmn-support.md says what the tables of the parser say."""

from __future__ import annotations

import re
from pathlib import Path

from vivero.core.bpmn import events
from vivero.core.bpmn.elements import contents
from vivero.core.bpmn.reading import extensions
from vivero.core.bpmn.reading.draft import Place

DOCUMENT = (Path(__file__).parents[3] / "docs" / "bpmn-support.md").read_text()


def items(heading):
    """The items of all lists below a heading of the second level, each as one line."""
    (section,) = re.findall(rf"^## {heading}$(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    return re.findall(r"^- .*", re.sub(r"\n +", " ", section), re.MULTILINE)


def found(pattern, heading):
    """The groups of a pattern in each item that it matches, in their order."""
    return [match.groups() for item in items(heading) if (match := re.match(pattern, item))]


def names(cell):
    return re.findall(r"`([\w:]+)`", cell)


def test_every_executed_element_is_documented():
    documented = [tag for (tag,) in found(r"- [^`]+, `(\w+)`: ", "Executed")]
    assert documented == ["process", *contents.ELEMENTS, "sequenceFlow"]


def test_every_event_definition_is_documented_with_its_places():
    table = dict(found(r"- \w+, `(\w+)`, at (.+?): ", "Executed"))
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
    documented = {name for (name,) in found(r"- `zeebe:(\w+)` \(", "Executed")}
    assert documented == extensions.KNOWN


def test_extensions_that_are_accepted_or_rejected_are_documented_with_the_reason():
    """Elements are items of `specification.table`."""
    ((accepted,),) = found(r"- extensions: (.*)", "Accepted without meaning")
    assert set(names(accepted)) == {f"zeebe:{name}" for name in (*extensions.ACCEPTED, *extensions.LISTS)}
    refused = dict(found(r"- `zeebe:(\w+)`: (.*)", "Rejected"))
    assert refused == {name: f"{what} not executable yet" for name, what in extensions.NOT_YET.items()}


def test_no_element_is_in_two_tables():
    tables = [contents.ELEMENTS, contents.NOT_YET, contents.PARTS, contents.PARTS_NOT_YET, contents.ACCEPTED_IN_SCOPES]
    tags = [tag for table in tables for tag in table]
    assert len(tags) == len(set(tags))
