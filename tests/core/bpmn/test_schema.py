"""The lists of `specification.py` are those of BPMN's own schema, which the console's packages contain."""

from functools import cache

import pytest
from lxml import etree

from tests.console.conftest import CONSOLE, lacking
from tests.core.bpmn.specification import ATTRIBUTES, CONTENT, GENERAL, OTHERS, PARTS, ROOTS
from vivero.core.bpmn.elements import contents

FOLDER = CONSOLE / "node_modules" / "bpmn-moddle" / "resources" / "bpmn" / "xsd"
FILES = ("BPMN20.xsd", "Semantic.xsd")
XSD = "{http://www.w3.org/2001/XMLSchema}"
LISTED = {*ATTRIBUTES, *CONTENT, *ROOTS, *OTHERS, *GENERAL, *contents.REPLACED, *PARTS}
REFERENCE = "eventDefinitionRef"
"""An element whose type is a name. It has no attributes."""


@cache
def schema():
    """The elements of the two files, the types by name, and the types of the elements at the top of the files."""
    if not FOLDER.is_dir():
        lacking("the console's packages are not installed: make console")
    roots = [etree.parse(FOLDER / name).getroot() for name in FILES]
    elements = [element for root in roots for element in root.iter(f"{XSD}element")]
    types = {type_.get("name"): type_ for root in roots for type_ in root.iter(f"{XSD}complexType")}
    declared = {each.get("name"): each.get("type") for root in roots for each in root.iterchildren(f"{XSD}element")}
    return elements, types, declared


def attributes(type_name):
    """The attributes of a type and of those that it extends."""
    type_ = schema()[1].get(type_name)
    if type_ is None:
        return set()
    extended = type_.find(f".//{XSD}extension")
    inherited = set() if extended is None else attributes(extended.get("base"))
    return inherited | {attribute.get("name") for attribute in type_.iter(f"{XSD}attribute")}


def test_each_element_of_the_schema_is_listed_and_no_other():
    elements = {element.get("name") for element in schema()[0]} - {None}
    assert (elements - LISTED, LISTED - elements) == (set(), set())
    assert len(elements) > 150


@pytest.mark.parametrize("tag", [tag for tag in ATTRIBUTES if tag != REFERENCE])
def test_the_attributes_of_an_element_are_those_of_the_schema(tag):
    assert attributes(schema()[2][tag]) - {"id", "name", None} == set(ATTRIBUTES[tag])
