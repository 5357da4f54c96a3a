"""A model of Camunda 7 in, a model of Camunda 8 and notes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lxml import etree

from vivero.core.bpmn.camunda7 import flows, mappings, people, work
from vivero.core.bpmn.camunda7.notes import Care, Note
from vivero.core.bpmn.camunda7.rewrite import SOURCES, Rewrite
from vivero.core.bpmn.reading.xml import BPMN, ZEEBE, Element, read_document, split

MODELER = "http://camunda.org/schema/modeler/1.0"
PLATFORM, VERSION = "Camunda Cloud", "8.9.0"
"""The execution platform that a converted file names."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted model. `files`: further files by name. `notes`: in the order of the lines."""

    content: bytes
    files: Mapping[str, bytes]
    notes: tuple[Note, ...]


def read(content: bytes) -> Element:
    """The root of a file, with its comments. Raises Unreadable."""
    return read_document(content, keeps_comments=True)


def is_camunda7(root: Element) -> bool:
    """Whether a file has extensions of Camunda 7, or names it as its platform."""
    if root.get(f"{{{MODELER}}}executionPlatform") == "Camunda Platform":
        return True
    return any(
        _is_of(element.tag) or any(map(_is_of, element.attrib))
        for element in root.iter()
        if isinstance(element.tag, str)
    )


def _is_of(name: object) -> bool:
    return str(name).removeprefix("{").partition("}")[0] in SOURCES


def convert(root: Element) -> Conversion:
    """Convert the file that `read` gave, in place. What has no rule stays, and has a note."""
    model = Rewrite(root)
    _join_extensions(model.root)
    _join_texts(model.root)
    for element in [one for one in model.root.iter() if isinstance(one.tag, str) and split(one)[0] == BPMN]:
        _convert_element(model, element)
    flows.convert_expressions(model)
    flows.convert_names(model)
    flows.convert_messages(model)
    flows.note_rest(model)
    _name_platform(model.root)
    etree.indent(model.root)
    text = etree.tostring(model.root.getroottree(), encoding="UTF-8", xml_declaration=True) + b"\n"
    order = {Care.TODO: 0, Care.CHECK: 1, Care.DROPPED: 2}
    notes = sorted(model.notes, key=lambda note: (note.line or 0, order[note.care]))
    return Conversion(text, model.files, tuple(notes))


_RULES: dict[str, tuple[Callable[[Rewrite, Element], None], ...]] = {
    "process": (flows.convert_process,),
    "serviceTask": (work.convert_work,),
    "sendTask": (work.convert_work,),
    "businessRuleTask": (work.convert_work,),
    "intermediateThrowEvent": (work.convert_work,),
    "endEvent": (work.convert_work,),
    "scriptTask": (work.convert_script,),
    "userTask": (people.convert_user_task,),
    "startEvent": (people.convert_form,),
    "callActivity": (flows.convert_call,),
}


def _join_texts(root: Element) -> None:
    """Comments inside of expressions, scripts and extensions of Camunda 7 go, because they divide their texts."""
    for one in list(root.iter("*")):
        namespace, name = split(one)
        if namespace in SOURCES or (namespace == BPMN and name in (*flows.EXPRESSIONS, "script")):
            etree.strip_tags(one, etree.Comment, etree.ProcessingInstruction)


def _join_extensions(root: Element) -> None:
    """An element with several `extensionElements` gets one with all that is in them: rules look into the first."""
    tag = f"{{{BPMN}}}extensionElements"
    firsts: dict[Element, Element] = {}
    for one in list(root.iter(tag)):
        parent = one.getparent()
        if parent is not None and (first := firsts.setdefault(parent, one)) is not one:
            first.extend(list(one))
            parent.remove(one)


def _convert_element(model: Rewrite, element: Element) -> None:
    for rule in _RULES.get(split(element)[1], ()):
        rule(model, element)
    mappings.convert_mappings(model, element)
    flows.convert_loop(model, element)
    flows.convert_properties(model, element)
    work.convert_listeners(model, element)
    flows.note_outputs(model, element)
    flows.drop_needless(model, element)
    extensions = element.find(f"{{{BPMN}}}extensionElements")
    if extensions is not None and len(extensions) == 0:
        element.remove(extensions)


def _name_platform(root: Element) -> None:
    """The file says that it is for Camunda 8, and declares the namespaces once."""
    used = [prefix for prefix, uri in root.nsmap.items() if prefix is not None and uri not in SOURCES]
    added = {"zeebe": ZEEBE, "modeler": MODELER}
    etree.cleanup_namespaces(root, top_nsmap=added, keep_ns_prefixes=[*used, *added])
    root.set(f"{{{MODELER}}}executionPlatform", PLATFORM)
    root.set(f"{{{MODELER}}}executionPlatformVersion", VERSION)
