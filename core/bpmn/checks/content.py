"""Content of a file that the schema of BPMN does not allow, or that speaks of an effect that it does not have.

The reader of an element checks the element's own children. This module checks elements without a reader, and text
between elements. Camunda compares each file with the schema, and rejects what it does not allow.
"""

from __future__ import annotations

from typing import cast

from lxml import etree

from vivero.core.bpmn.elements.contents import ACCEPTED_EVERYWHERE
from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.references import ROOTS, article
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import BPMN, Element, bpmn_children, split

_TEXTS = etree.XPath("text()")
_OF_FLOWS = ACCEPTED_EVERYWHERE | {"conditionExpression"}
_OF_ROOTS = frozenset({"documentation", "extensionElements"})
_NOT_EXECUTED = ("choreography", "globalConversation", "globalChoreographyTask")
_DIRECTIONS = frozenset({"Unspecified", "Converging", "Diverging", "Mixed"})


def check_definitions(root: Element, report: Report) -> None:
    """Check what stands at the top of a file, but for processes."""
    language = root.get("expressionLanguage", "").strip()
    if language and "feel" not in language.casefold():
        report.warn(root, f"expressionLanguage {quote(language)} has no effect: expressions are FEEL")
    for extension in bpmn_children(root, "extension"):
        if extension.get("mustUnderstand", "").strip() in ("true", "1"):
            definition = quote(extension.get("definition", "").strip())
            report.warn(root, f"the extension {definition} must be understood, and has no effect", at=extension)
    for element in bpmn_children(root, *_NOT_EXECUTED):
        report.warn(element, f"the {split(element)[1]} has no effect: only processes are executed")
    for element in bpmn_children(root, *ROOTS):
        _object_to_children(element, _OF_ROOTS, report)
    _object_to_text(root, report)


def check_content(draft: Draft) -> None:
    """Check the text between the elements of a process, its sequence flows, and the directions of its gateways."""
    for flow in draft.flow_elements:
        _object_to_children(flow, _OF_FLOWS, draft.report)
    for element in (draft.process, *draft.flow_elements, *(member.element for member in draft.members.values())):
        _object_to_text(element, draft.report)
    _warn_of_unused_conditions(draft)
    _check_directions(draft)
    for start in draft.starts.get(draft.id, ()):
        if start.element.get("isInterrupting", "").strip() in ("false", "0"):
            text = "isInterrupting has no effect: only the start event of an event sub-process can interrupt"
            draft.report.warn(start.element, text)


def _object_to_children(element: Element, allowed: frozenset[str], report: Report) -> None:
    for child in element:
        namespace, tag = split(child)
        if namespace != BPMN or tag not in allowed:
            text = f"the element {quote(tag)} has no place in {article(split(element)[1])}"
            report.object_to(element, text, at=child)


def _object_to_text(element: Element, report: Report) -> None:
    for text in cast("list[str]", _TEXTS(element)):
        if text.strip():
            report.object_to(element, f"the text {quote(text.strip())} has no place between elements")


def _warn_of_unused_conditions(draft: Draft) -> None:
    for flow in draft.flows.values():
        element, source = draft.flow_of[flow.id], draft.members[flow.source]
        if source.element.get("default") == flow.id:
            for condition in bpmn_children(element, "conditionExpression"):
                text = f"the flow is the default flow of {quote(source.id)}: this condition has no effect"
                draft.report.warn(element, text, at=condition)


def _check_directions(draft: Draft) -> None:
    """A direction repeats the flows, which alone count. BPMN 2.0.2 §10.6, table 10.105."""
    for member in draft.members.values():
        direction = member.element.get("gatewayDirection")
        if direction is None or not member.tag.endswith("Gateway"):
            continue
        if direction.strip() not in _DIRECTIONS:
            text = f"gatewayDirection: {quote(direction)} is none of {', '.join(sorted(_DIRECTIONS))}"
            draft.report.object_to(member.element, text)
        for contradicted, what, flows in (
            ("Converging", "outgoing", draft.outgoing),
            ("Diverging", "incoming", draft.incoming),
        ):
            if direction.strip() == contradicted and len(flows.get(member.id, ())) > 1:
                text = f"gatewayDirection {contradicted} has no effect: the gateway has several {what} flows"
                draft.report.warn(member.element, text)
