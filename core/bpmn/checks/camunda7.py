"""Models for Camunda 7: what their `camunda:` attributes and elements ask for is not executed.

A model for Camunda 8 may contain some of them: a modeler left them behind, or somebody converted it. A model is for
Camunda 7 only if nothing says that it is for Camunda 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.reading.report import Report
from vivero.core.bpmn.reading.xml import ZEEBE, Element, line_of

NAMESPACE = "http://camunda.org/schema/1.0/bpmn"
_PREFIX = f"{{{NAMESPACE}}}"
_PLATFORM = "{http://camunda.org/schema/modeler/1.0}executionPlatform"
_CAMUNDA_8 = "Camunda Cloud"
"""The execution platform that Camunda's modelers write into models for Camunda 8."""

WITHOUT_MEANING = frozenset(
    {
        *("historyTimeToLive", "isStartableInTasklist", "candidateStarterUsers", "candidateStarterGroups"),
        *("properties", "property", "modelerTemplate", "modelerTemplateVersion", "modelerTemplateIcon"),
        "diagramRelationId",  # of Camunda's Web Modeler, also in models for Camunda 8
    }
)
"""Attributes and elements that ask the engine for nothing that an execution would show."""


def report_camunda7(root: Element, report: Report) -> None:
    """Report what is of Camunda 7. A model for Camunda 7 that has problems gets one more, which is their cause."""
    found = list(_uses(root))
    if not found:
        return
    if report.problems() and not _is_for_camunda8(root):
        element, names = found[0]
        report.add_file_problem(
            f"the model is for Camunda 7 (it has {names[0]}). Vivero executes models for Camunda 8, with zeebe:…"
            " extensions: convert it, for example with Camunda's diagram converter",
            line_of(element),
        )
        return
    for element, names in found:
        have = "has" if len(names) == 1 else "have"
        report.warn(_named(element), f"{', '.join(names)} of Camunda 7 {have} no effect", at=element)


def _is_for_camunda8(root: Element) -> bool:
    return root.get(_PLATFORM) == _CAMUNDA_8 or next(root.iter(f"{{{ZEEBE}}}*"), None) is not None


def _uses(root: Element) -> Iterator[tuple[Element, list[str]]]:
    """The elements of Camunda 7, and those with attributes of it, with their names."""
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        names = [str(name) for name in element.attrib if str(name).startswith(_PREFIX)]
        if element.tag.startswith(_PREFIX) and not _inside(element):
            names.append(element.tag)
        asked = [name.removeprefix(_PREFIX) for name in names]
        if meaning := [f"camunda:{name}" for name in asked if name not in WITHOUT_MEANING]:
            yield element, meaning


def _inside(element: Element) -> bool:
    """Whether an element is a part of another element of Camunda 7, which is reported."""
    parent = element.getparent()
    return parent is not None and str(parent.tag).startswith(_PREFIX)


def _named(element: Element) -> Element:
    """The nearest element around this one that a modeler knows by id."""
    while element.get("id") is None and (parent := element.getparent()) is not None:
        element = parent
    return element
