"""A file of decisions: bytes in, definitions or all problems out. Nothing is compiled yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vivero.core.bpmn.model import Problem
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import LIMITS as BPMN_LIMITS
from vivero.core.bpmn.reading.xml import ZEEBE, Element, Unreadable, XmlLimits, line_of, read_document, split
from vivero.core.dmn import model
from vivero.core.dmn.model import CAMUNDA, DMN, MODES, Definitions, Import, ItemDefinition
from vivero.core.dmn.reading.elements import ELEMENTS
from vivero.core.dmn.reading.logic import LogicReader
from vivero.core.dmn.reading.texts import DecisionReport, check_language, text_in
from vivero.core.dmn.reading.xml_names import (
    LATER_MODEL,
    MODELS,
    child,
    children,
    normal_name,
    type_of,
    variable_of,
)

LIMITS = replace(BPMN_LIMITS, bytes=16 * 1024 * 1024, tags=600_000, expressions=16 * 1024 * 1024)
"""Tables are long: one with 10,000 rules and 10 columns has 6 MB and 450,000 tags."""
MODE_PROPERTY = "vivero.mode"
"""The property of `definitions` that overrides what the origin of the file suggests."""
_PLATFORM = "{http://camunda.org/schema/modeler/1.0}executionPlatform"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The result of reading one file. `report` collects what linking and compiling find, too."""

    definitions: Definitions | None
    report: Report

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.report.problems()


def read_definitions(content: bytes, resource: str, limits: XmlLimits = LIMITS) -> ReadFile:
    """Read one file. Never raises, whatever the bytes are."""
    report = DecisionReport(resource, limits)
    try:
        root = read_document(content, limits)
    except Unreadable as unreadable:
        report.add_file_problem(unreadable.message, unreadable.line)
        return ReadFile(None, report)
    if not _is_accepted(root, report):
        return ReadFile(None, report)
    return ReadFile(_definitions(root, report), report)


def _is_accepted(root: Element, report: Report) -> bool:
    namespace, tag = split(root)
    if tag == "definitions" and namespace in MODELS:
        return True
    if tag == "definitions" and LATER_MODEL.fullmatch(namespace):
        report.warn_of_file(f"the namespace {quote(namespace)} is of an unknown version of DMN")
        return True
    found = f"{quote(tag)} of namespace {quote(namespace)}"
    report.add_file_problem(f"not a DMN file: its root is {found}, not 'definitions' of DMN 1.1 to 1.5", line_of(root))
    return False


def _definitions(root: Element, report: Report) -> Definitions:
    check_language(root, report)
    elements = _elements(root, report)
    return Definitions(
        report.resource,
        root.get("id", ""),
        normal_name(root.get("name")),
        root.get("namespace", ""),
        _mode(root, report),
        elements,
        tuple(_item_definition(each, report) for each in children(root, "itemDefinition")),
        tuple(
            Import(normal_name(each.get("name")), each.get("namespace", ""), line_of(each))
            for each in children(root, "import")
            if _is_of_models(each)
        ),
    )


def _mode(root: Element, report: Report) -> str:
    """The mode that the file asks for, else that of its origin: Camunda's if a modeler for Camunda 8 wrote it."""
    for element in _properties(root):
        value = element.get("value", "")
        if value in MODES:
            return value
        report.add_problem(element, f"the property '{MODE_PROPERTY}' is {quote(value)}: it must be 'dmn' or 'camunda'")
    is_camundas = root.get(_PLATFORM) == "Camunda Cloud" or ZEEBE in root.nsmap.values()
    return CAMUNDA if is_camundas else DMN


def _properties(root: Element) -> Iterator[Element]:
    extensions = child(root, "extensionElements")
    if extensions is None:
        return
    for element in extensions.iterfind(f"{{{ZEEBE}}}properties/{{{ZEEBE}}}property"):
        if element.get("name") == MODE_PROPERTY:
            yield element


def _elements(root: Element, report: Report) -> dict[str, model.Element]:
    reader = LogicReader(report)
    found: dict[str, model.Element] = {}
    for each in children(root, *ELEMENTS):
        if not report.takes_node():
            continue
        tag = split(each)[1]
        element = ELEMENTS[tag](each, reader)
        if not element.id:
            report.add_problem(each, f"{quote(tag)} has no id")
        elif element.id in found:
            report.add_problem(each, f"two elements have the id {quote(element.id)}")
        found[element.id] = element
    return found


def _item_definition(element: Element, report: Report) -> ItemDefinition:
    return ItemDefinition(
        normal_name(element.get("name")),
        type_of(element),
        tuple(_item_definition(each, report) for each in children(element, "itemComponent")),
        element.get("isCollection") == "true",
        text_in(child(element, "allowedValues"), report),
        text_in(child(element, "typeConstraint"), report),
        _function_type(child(element, "functionItem")),
    )


def _function_type(element: Element | None) -> model.FunctionType | None:
    if element is None:
        return None
    parameters = tuple(variable_of(each) for each in children(element, "parameters"))
    return model.FunctionType(parameters, normal_name(element.get("outputTypeRef")))


def _is_of_models(element: Element) -> bool:
    """True for the import of another DMN file; other imports, such as schemas, are ignored."""
    kind = element.get("importType", "")
    return kind in MODELS or LATER_MODEL.fullmatch(kind) is not None
