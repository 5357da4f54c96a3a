"""A model while it is converted: extensions of Camunda 7 are taken out, those of Camunda 8 added, notes made."""

from __future__ import annotations

import re

from lxml import etree

from vivero.core.bpmn.camunda7.juel import BY_PLACE, Untranslatable, feel_attribute
from vivero.core.bpmn.camunda7.notes import Care, Note
from vivero.core.bpmn.reading.xml import BPMN, ZEEBE, Element, line_of, split

CAMUNDA = "http://camunda.org/schema/1.0/bpmn"
OTHERS = frozenset(("http://activiti.org/bpmn", "http://operaton.org/schema/1.0/bpmn"))
"""Namespaces with the same names."""
SOURCES = frozenset((CAMUNDA, *OTHERS))


class Rewrite:
    """A model and the notes about it. `files`: further files that the conversion gives, by name."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.notes: list[Note] = []
        self.files: dict[str, bytes] = {}

    # ---- notes

    def note(self, care: Care, element: Element, text: str, advice: str) -> None:
        self.notes.append(Note(care, line_of(element), named(element), text, advice))

    def todo(self, element: Element, text: str, advice: str) -> None:
        self.note(Care.TODO, element, text, advice)

    def check(self, element: Element, text: str, advice: str) -> None:
        self.note(Care.CHECK, element, text, advice)

    # ---- Camunda 7

    def take(self, element: Element, name: str) -> str | None:
        """The value of an attribute `camunda:name`, which is removed."""
        for key in (f"{{{namespace}}}{name}" for namespace in SOURCES):
            if key in element.attrib:
                return str(element.attrib.pop(key))
        return None

    def take_plain(self, element: Element, name: str) -> str | None:
        """The value of an attribute of BPMN, which is removed."""
        value = element.attrib.pop(name, "")
        return str(value) if value else None

    def take_feel(self, element: Element, name: str) -> str | None:
        """The value of an attribute with its expressions in FEEL; None if there is none, or no rule for it (noted)."""
        value = self.take(element, name)
        return None if value is None else self.feel(element, value, f"camunda:{name}")

    def feel(self, element: Element, text: str, what: str) -> str | None:
        """A text with its expressions in FEEL; None if there is no rule for it (noted)."""
        try:
            found = feel_attribute(text.strip())
        except Untranslatable as reason:
            self.todo(
                element, f"{what} {text.strip()} has no FEEL: {reason}", "Write it in FEEL, or let a worker do it"
            )
            return None
        if BY_PLACE in found:
            self.check(element, f"{what} {text.strip()} takes an item of a list", "Write get value(…) if it is a map")
        return found

    def take_children(self, element: Element, name: str) -> list[Element]:
        """The extension elements `camunda:name`, which are removed."""
        found = [child for child in _extensions(element) if split(child)[0] in SOURCES and split(child)[1] == name]
        for child in found:
            _remove(child)
        return found

    # ---- Camunda 8

    def add(self, element: Element, name: str, /, **attributes: str | None) -> Element:
        """Add `zeebe:name` to the extension elements. Attributes that are None are left out."""
        return self.add_to(self.extensions_of(element), name, **attributes)

    def add_to(self, parent: Element, name: str, /, **attributes: str | None) -> Element:
        child = etree.SubElement(parent, f"{{{ZEEBE}}}{name}", nsmap={"zeebe": ZEEBE})
        for key, value in attributes.items():
            if value is not None:
                child.set(key, value)
        return child

    def one(self, element: Element, name: str) -> Element:
        """The extension element `zeebe:name`, which is added unless it is there."""
        found = self.extensions_of(element).find(f"{{{ZEEBE}}}{name}")
        return self.add(element, name) if found is None else found

    def header(self, element: Element, key: str, value: str) -> None:
        """Add a task header."""
        self.add_to(self.one(element, "taskHeaders"), "header", key=key, value=value)

    def mapped(self, element: Element, direction: str, source: str, target: str) -> None:
        """Add a mapping: `direction` is `input` or `output`."""
        self.add_to(self.one(element, "ioMapping"), direction, source=source, target=target)

    def extensions_of(self, element: Element) -> Element:
        found = element.find(f"{{{BPMN}}}extensionElements")
        if found is None:
            found = etree.Element(f"{{{BPMN}}}extensionElements")
            documentation = element.findall(f"{{{BPMN}}}documentation")
            element.insert(element.index(documentation[-1]) + 1 if documentation else 0, found)
        return found


def _extensions(element: Element) -> list[Element]:
    found = element.find(f"{{{BPMN}}}extensionElements")
    return [] if found is None else [child for child in found if isinstance(child.tag, str)]


def _remove(element: Element) -> None:
    parent = element.getparent()
    assert parent is not None, "an extension has one"
    parent.remove(element)


def named(element: Element) -> str | None:
    """The id of the element, or of the nearest one around it that has one."""
    at: Element | None = element
    while at is not None:
        if at.get("id"):
            return at.get("id")
        at = at.getparent()
    return None


def kebab(name: str) -> str:
    """A job type from the name of a class or bean: `com.acme.ChargeCardDelegate` → `charge-card`."""
    last = re.split(r"[.$]", name.strip())[-1]
    last = re.sub(r"(JavaDelegate|Delegate|Listener|Handler|Bean)$", "", last) or last
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", last)
    return "-".join(part.lower() for part in parts) or "job"
