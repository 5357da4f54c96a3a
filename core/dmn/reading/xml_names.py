"""Namespaces of the versions of DMN, and access to elements by local name."""

from __future__ import annotations

import re

from vivero.core.bpmn.reading.xml import Element
from vivero.core.dmn.model import InformationItem

MODELS = {
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd",  # DMN 1.1
    "http://www.omg.org/spec/DMN/20180521/MODEL/",  # 1.2
    "https://www.omg.org/spec/DMN/20191111/MODEL/",  # 1.3
    "https://www.omg.org/spec/DMN/20211108/MODEL/",  # 1.4
    "https://www.omg.org/spec/DMN/20230324/MODEL/",  # 1.5
}
LATER_MODEL = re.compile(r"https?://www\.omg\.org/spec/DMN/\d{8}/MODEL/?")
FEEL = re.compile(r"(feel|https?://www\.omg\.org/spec/(feel/\d{8}|dmn/\d{8}/feel))/?", re.IGNORECASE)
_PREFIXED = re.compile(r"feel:", re.IGNORECASE)


def children(element: Element, *names: str) -> list[Element]:
    """Children of the file's own namespace with one of these local names, in document order."""
    namespace = _namespace_of(element)
    return list(element.iterchildren(*(namespace + name for name in names)))


def child(element: Element, name: str) -> Element | None:
    """The first child with this local name."""
    return next(element.iterchildren(_namespace_of(element) + name), None)


def _namespace_of(element: Element) -> str:
    """The part of a tag before the local name: `{namespace}`."""
    tag = str(element.tag)
    return tag[: tag.rfind("}") + 1]


def child_text(element: Element, name: str) -> str | None:
    """The text of the first child with this name, without surrounding space; None if there is none."""
    found = child(element, name)
    return None if found is None else content_of(found)


def content_of(element: Element) -> str:
    """The text in an element, without surrounding space."""
    if len(element) == 0:
        return (element.text or "").strip()
    return "".join(str(part) for part in element.itertext()).strip()


def normal_name(text: str | None) -> str:
    """A name with single spaces, as FEEL compares names."""
    return " ".join((text or "").split())


def type_of(element: Element) -> str:
    """The `typeRef` of an element, an attribute or a child, without the prefix of FEEL's own types."""
    text = element.get("typeRef") or child_text(element, "typeRef") or ""
    return _PREFIXED.sub("", normal_name(text), count=1) if _PREFIXED.match(text) else normal_name(text)


def variable_of(element: Element | None, name: str = "") -> InformationItem:
    """The variable that an element declares. `name` counts if the element has none."""
    if element is None:
        return InformationItem(name)
    return InformationItem(normal_name(element.get("name")) or name, type_of(element))
