"""References of elements that have no meaning for execution: artifacts, data, pools and message flows.

BPMN 2.0.2 §8.4.1, §9.3, §10.4. Nothing is executed by them, so each fault is a warning: a reference that names
nothing shows that the file is damaged, or that somebody believes in an effect that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vivero.core.bpmn.elements.contents import ELEMENTS
from vivero.core.bpmn.reading.references import article
from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import BPMN, Element, bpmn_children, split

_BPMN = f"{{{BPMN}}}"
_ANY: frozenset[str] = frozenset()
_ITEM = frozenset({"itemDefinition"})
_GATEWAYS = frozenset(tag for tag in ELEMENTS if tag.endswith("Gateway"))
_COMMUNICATING = frozenset({"participant", "conversationNode"}) | (ELEMENTS.keys() - _GATEWAYS)
"""The ends of message flows: pools, activities and events. BPMN 2.0.2 §9.3, table 9.2 (`InteractionNode`)."""

REFERENCES: Mapping[str, Mapping[str, frozenset[str]]] = {
    "association": {"sourceRef": _ANY, "targetRef": _ANY},
    "dataObjectReference": {"dataObjectRef": frozenset({"dataObject"})},
    "dataStoreReference": {"dataStoreRef": frozenset({"dataStore"})},
    "group": {"categoryValueRef": frozenset({"categoryValue"})},
    "lane": {"partitionElementRef": _ANY},
    "participant": {"processRef": frozenset({"process"})},
    "messageFlow": {"sourceRef": _COMMUNICATING, "targetRef": _COMMUNICATING, "messageRef": frozenset({"message"})},
    "message": {"itemRef": _ITEM},
    **{tag: {"structureRef": _ITEM} for tag in ("signal", "error", "escalation")},
    "process": {"definitionalCollaborationRef": frozenset({"collaboration", "globalConversation", "choreography"})},
}
"""Element → attribute → the elements that it may name; `_ANY` for every one."""
_REQUIRED = frozenset({("association", "sourceRef"), ("association", "targetRef")}) | {
    ("messageFlow", "sourceRef"),
    ("messageFlow", "targetRef"),
}
"""Attributes without which an element is no valid BPMN. Camunda rejects such a file."""
_NO_SOURCE = frozenset({"startEvent", "intermediateCatchEvent", "boundaryEvent"})
_NO_TARGET = frozenset({"endEvent", "intermediateThrowEvent"})
"""Events that never send, and those that never receive. BPMN 2.0.2 §10.5.2, §10.5.3, §10.5.4."""


def warn_of_references(root: Element, report: Report) -> None:
    """Warn of each reference to nothing, of message flows within one pool, and of imports."""
    named = {element.get("id", "").strip(): element for element in root.iter(f"{_BPMN}*")}
    for imported in bpmn_children(root, "import"):
        where = imported.get("location", "").strip() or imported.get("namespace", "").strip()
        report.warn(root, f"import of {quote(where)} has no effect: no other file is read", at=imported)
    for element in _elements(root, report):
        tag = split(element)[1]
        ends = {name: _end(element, name, allowed, named, report) for name, allowed in REFERENCES[tag].items()}
        if tag == "messageFlow":
            _check_message_flow(element, ends["sourceRef"], ends["targetRef"], report)


def _elements(root: Element, report: Report) -> Iterator[Element]:
    """The elements of `REFERENCES`, but for those in processes that are not executed, which are not checked."""
    tags = [f"{_BPMN}{tag}" for tag in REFERENCES]
    for child in root:
        skipped = child.tag == f"{_BPMN}process" and not flag(child, "isExecutable", report)
        if not skipped and str(child.tag).startswith(_BPMN):
            yield from child.iter(*tags)


def _end(
    element: Element, name: str, allowed: frozenset[str], named: Mapping[str, Element], report: Report
) -> Element | None:
    tag, reference = split(element)[1], element.get(name, "").strip()
    if not reference:
        if (tag, name) in _REQUIRED:
            report.object_to(element, f"the {tag} needs {article(name)}")
        return None
    found = named.get(reference)
    if found is None:
        found = named.get(reference.rpartition(":")[2])
    if found is None:
        report.warn(element, f"{name} {quote(reference)} is not an element of this file")
    elif allowed and split(found)[1] not in allowed:
        report.warn(element, f"{name} {quote(reference)} is {article(split(found)[1])}, which cannot stand there")
    return found


def _check_message_flow(flow: Element, source: Element | None, target: Element | None, report: Report) -> None:
    if source is None or target is None:
        return
    pool = _process_of(source)
    if source is target or (pool is not None and pool == _process_of(target)):
        report.warn(flow, "the message flow stays in one pool: message flows lead from one pool to another")
    if split(source)[1] in _NO_SOURCE:
        report.warn(flow, f"leaves {article(split(source)[1])}, which sends no message")
    if split(target)[1] in _NO_TARGET:
        report.warn(flow, f"leads to {article(split(target)[1])}, which receives no message")


def _process_of(end: Element) -> str | None:
    """The id of the process of a pool or of a flow node."""
    if split(end)[1] == "participant":
        return end.get("processRef", "").strip().rpartition(":")[2] or None
    return next((around.get("id") for around in end.iterancestors(f"{_BPMN}process")), None)
