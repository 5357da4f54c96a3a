"""Attributes that have no effect: something else takes their place, or BPMN has none of this name."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.elements.attributes import COMMON, EXECUTED, WITHOUT_EFFECT, WITHOUT_MEANING
from vivero.core.bpmn.elements.loops import loops_of
from vivero.core.bpmn.reading.draft import Draft, event_definitions
from vivero.core.bpmn.reading.references import article
from vivero.core.bpmn.reading.xml import Element, split


def warn_of_attributes(draft: Draft) -> None:
    for owner, element in _elements(draft):
        tag = split(element)[1]
        known = COMMON | EXECUTED.get(tag, frozenset()) | WITHOUT_MEANING.get(tag, frozenset())
        for name in map(str, element.attrib):
            if name not in known and not name.startswith("{"):
                reason = WITHOUT_EFFECT.get(tag, {}).get(name, f"BPMN has no such attribute of {article(tag)}")
                draft.report.warn(owner, f"{name} has no effect: {reason}", at=element)


def _elements(draft: Draft) -> Iterator[tuple[Element, Element]]:
    """The elements with a meaning, each with the one that a modeler knows by id."""
    yield draft.process, draft.process
    for flow in draft.flow_elements:
        yield flow, flow
    for member in draft.members.values():
        for element in (member.element, *event_definitions(member.element), *loops_of(member.element)):
            yield member.element, element
